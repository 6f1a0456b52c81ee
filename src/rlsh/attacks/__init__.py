"""Attempts to earn a reward without a repair, to get out, to stay, or to take the machine down."""
