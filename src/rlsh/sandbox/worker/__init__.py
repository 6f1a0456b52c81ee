"""The process that owns workspaces and runs commands over them; see `serve`."""
