"""Ordinary words that realistic fixtures are named after and filled with, and how a world draws from them.

A world draws only words of its own pool (`world.pool_of`), one in five of every list being kept for held-out tasks.
"""

from __future__ import annotations

from functools import cache

from rlsh.tasks.world import Pool, World, pool_of

NOUNS = tuple(
    """
acorn anchor apple apron arrow atlas attic autumn badge bakery balcony bamboo banner barley barrel basin basket beacon
bicycle birch blanket blossom bottle boulder bracket branch breeze bridge bronze bucket buffet bundle burrow butter
button cabin cable camera canal candle canvas canyon carpet castle cedar cellar chapel cherry chimney cider cinema
circus citrus clover cobalt coffee comet compass copper coral corner cottage cotton cradle crater cricket crystal
cupboard curtain cushion daisy desert diamond dolphin domino drawer dresser eagle echo ember engine falcon feather
fennel ferry fiddle filter flannel forest fossil fountain galaxy gallery garden garlic ginger glacier goblet granite
gravel grove guitar hammer hammock harbour harvest hazel heron hollow honey horizon hotel island ivory jacket jasmine
jigsaw juniper kettle keyboard kitchen ladder lagoon lantern laurel lavender ledger lemon library lichen lilac linen
lobster locket lumber magnet maple marble market marsh meadow medal melon mercury meteor mirror mitten monsoon mosaic
mountain museum mustard nectar needle nickel nutmeg oasis olive onion orbit orchard orchid otter oyster paddle palace
panel paper parcel pavilion peach pebble pelican pencil pepper picnic pigeon pillow pine planet plaza plum pocket
pollen pond poplar poppy portrait prairie prism pumpkin puzzle quarry quartz quilt rabbit radar raft ranch raven
record reef ribbon ridge river robin rocket rosemary rubber saddle saffron sailor salmon sandal satchel saucer scarf
school season seed shadow shelter shoulder signal silver sketch sparrow spice spiral spruce square stable statue
station steam stone storm stream studio summit sunset swallow table tandem teapot temple theatre thicket thimble
thistle thunder timber tomato torch tower trail trellis trumpet tulip tunnel turbine turnip turtle umbrella valley
vanilla velvet vessel village vineyard violet walnut walrus warehouse water willow window winter wizard workshop yarn
""".split()
)
GIVEN = tuple(
    """
ada agnes alan alice amir anita anna arthur astrid bela bianca boris bruno carla carmen cecil clara cora cyrus dalia
daniel dario diana dora edgar elena elias emma erik esther fatima felix fiona flora frank gemma george gina greta gus
hanna harold hedda helen hugo ida igor ines iris ivan jana jasper joan jonas judith julia kai karen karl kira lars lea
leo lina louis lucia lydia mabel marco maria martha max milan mina miriam nadia nina noel nora olaf olga omar oscar
otto paula pedro petra priya quentin rahul ralph regina rita robert rosa ruth samir sara selma simon sofia stella sven
tara theo thomas tina ulla uma vera victor vivian walter wanda wilma xenia yara yusuf zelda zoe
""".split()
)
SURNAMES = tuple(
    """
abbott adler ahmed archer baker barnes bauer becker bell bennett berg bishop blake bloom brandt brooks burke carter
castro chavez clark cohen cole conrad cruz dalton davis diaz dixon doyle dunn ellis evans farrow fischer fleming flynn
foster fox frost garcia gibbs grant gray green gupta hale hansen harris hayes hill hobbs holt howard hughes hunt ito
jensen jones keller kelly khan klein koch kumar lane larsen lewis lopez lowe marsh mason meyer miller moore morgan
morris murphy nash nguyen nolan novak olsen owens page park patel payne perez porter price quinn ramos reed reyes rice
rossi rowe salas sato schmidt shah sharma silva singh smith stone sutton swift tanaka todd turner vargas vogel wagner
walsh ward watts weber wells west white wolf wood wright young ziegler
""".split()
)
CITIES = tuple(
    """
amsterdam athens austin bangkok barcelona basel bergen berlin bilbao bogota bologna boston bremen brussels budapest
cairo calgary chicago cologne cork dakar dallas delhi denver dresden dublin durban florence geneva genoa ghent glasgow
graz hamburg hanoi havana helsinki houston istanbul izmir jakarta kyoto lagos leeds leipzig lima lisbon liverpool
london lyon madrid malaga malmo manila marseille melbourne miami milan montreal munich nairobi nantes naples osaka
oslo ottawa oxford palermo paris perth phoenix porto prague quebec quito reno riga rome rotterdam salzburg santiago
seattle seoul seville sofia stockholm sydney tallinn tampere tokyo toronto trieste tunis turin utrecht valencia vienna
vilnius warsaw york zagreb zurich
""".split()
)
PRODUCTS = tuple(
    """
adapter album armchair backpack balloon battery bench binder blender bookcase boots brush cabinet calendar chair charger
clock cup curtain cutter desk dictionary drill easel envelope eraser fan folder fork freezer frame glove glue grater
hanger headset heater helmet iron jar jug kettle knife ladle lamp laptop locker mat mattress microphone mixer monitor
mug napkin notebook oven pan pen phone plate pot printer projector purse rake razor router rug ruler saw scale scanner
scissors screen shelf shovel sofa speaker spoon stapler stool stove suitcase tablet tape thermos ticket toaster towel
tray tripod vase wallet watch whistle
""".split()
)
SERVICES = tuple(
    """
accounts alerts archive auth backup billing booking broker cache catalog chat checkout cleaner collector config crawler
customer delivery dispatch exporter feed gateway identity importer indexer inventory invoice loader logger mailer media
metrics monitor notifier orders parser payments planner portal profile proxy publisher queue ranking recorder renderer
replica report resolver router scheduler search session shipping signup stock storage streamer sync tracker transfer
upload usage vault voucher watcher webhook worker
""".split()
)
ROOMS = tuple(
    """
attic balcony basement bathroom bedroom cellar classroom corridor dairy den foyer garage greenhouse hall kitchen
laboratory landing laundry library loft lounge nursery office pantry parlour porch reception refectory shed showroom
stable studio study surgery terrace vestibule vault veranda workshop wardrobe
""".split()
)
TASKS = tuple(
    """
answer approve arrange assemble balance bind brush build buy carve catalogue check clean collect compare copy count
cover deliver describe design drain draw empty explain fasten file fill finish fold frame gather grind hang inspect
label lift list load measure mend mix mount move oil open order pack paint patch phone photograph plant polish post
prepare press print prune read record rent repair replace return scan seal sell send sew sharpen shift sketch sort
store sweep test trim tune varnish wash weigh wrap write
""".split()
)


@cache  # a drawing asks hundreds of times
def of_pool(pool: Pool, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if pool_of(word) == pool)


def one(w: World, words: tuple[str, ...]) -> str:
    return w.rng.choice(of_pool(w.pool, words))


def some(w: World, words: tuple[str, ...], n: int) -> list[str]:
    """`n` distinct words in no order. Raises ValueError where the pool has fewer."""
    return w.rng.sample(of_pool(w.pool, words), n)
