"""Words for the corpus of the embedded model: plain lists, each written as one string.

Kept apart from `corpus.py` so that the templates there can be read. Invented people and products; no real data.
Tested by tests/lm/test_corpus.py.
"""

from __future__ import annotations


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()) for part in text.split(","))


FIRST_NAMES = _split("""Alice, Amara, Anna, Ben, Carla, Chen, Clara, Daniel, David, Elena, Emil, Emma, Fatima,
Felix, Grace, Hana, Hugo, Ines, Ivan, Jonas, Julia, Kai, Karim, Laura, Leo, Lina, Lucas, Maria, Marta, Mei, Mina,
Nadia, Nora, Omar, Oscar, Paula, Peter, Priya, Rafael, Rosa, Sam, Sara, Sofia, Tariq, Theo, Tomas, Vera, Yuki, Zoé,
Jürgen""")

LAST_NAMES = _split("""Adams, Almeida, Baker, Bauer, Becker, Costa, Diaz, Dubois, Evans, Fischer, Garcia, Haddad,
Hansen, Ito, Jansen, Kim, Klein, Kowalski, Larsen, Lopez, Martin, Mensah, Meyer, Moreau, Nakamura, Novak, Okafor,
Olsen, Patel, Petrov, Ramos, Rossi, Santos, Schmidt, Silva, Singh, Suzuki, Tanaka, Torres, Wagner, Walker, Weber,
Yilmaz, Young, Zhang""")

CITIES = _split("""Amsterdam, Athens, Barcelona, Berlin, Bogotá, Boston, Brussels, Cairo, Chicago, Copenhagen,
Dublin, Hamburg, Helsinki, Istanbul, Kyoto, Lagos, Lisbon, London, Lyon, Madrid, Melbourne, Milan, Montreal, Mumbai,
Munich, Nairobi, New York, Oslo, Paris, Porto, Prague, Rome, San Francisco, São Paulo, Seattle, Seoul, Singapore,
Stockholm, Sydney, Tokyo, Toronto, Vienna, Warsaw, Zürich""")

COUNTRIES = _split("""Australia, Austria, Belgium, Brazil, Canada, Colombia, Denmark, Egypt, Finland, France,
Germany, Greece, India, Ireland, Italy, Japan, Kenya, Korea, Mexico, Netherlands, Nigeria, Norway, Poland, Portugal,
Spain, Sweden, Switzerland, Turkey, United Kingdom, United States""")

STREETS = _split("""Bakery Lane, Bridge Street, Castle Road, Cedar Avenue, Church Street, Garden Square, Harbour
Street, High Street, Hill Road, King Street, Lake View, Main Street, Maple Avenue, Market Street, Mill Lane, Oak
Street, Park Avenue, River Road, School Lane, Station Road, Sunset Boulevard""")

JOBS = _split("""accountant, architect, baker, biologist, carpenter, chef, civil engineer, data analyst, designer,
doctor, economist, electrician, gardener, journalist, lawyer, librarian, mechanic, musician, nurse, photographer,
pilot, project manager, researcher, sales manager, software engineer, teacher, translator, writer""")

HOBBIES = _split("""baking bread, board games, bird watching, chess, climbing, cooking, cycling, drawing, fishing,
gardening, hiking, knitting, learning languages, old maps, painting, photography, playing the piano, pottery,
reading novels, running, sailing, singing in a choir, swimming, tennis, travelling by train, woodworking, yoga""")

LANGUAGES = _split("""Arabic, Chinese, Danish, Dutch, English, French, German, Greek, Hindi, Italian, Japanese,
Korean, Norwegian, Polish, Portuguese, Spanish, Swahili, Swedish, Turkish""")

ROLES = _split("admin, editor, member, viewer, owner, guest")

EMAIL_HOSTS = _split("example.com, example.org, example.net, mail.example.com")

ADJECTIVES = _split("""adjustable, compact, durable, elegant, foldable, handmade, heavy, light, quiet, recycled,
robust, small, soft, solid, stainless, waterproof, wide, wireless""")

PRODUCTS = _split("""backpack, bicycle helmet, bookshelf, camera bag, coffee grinder, cutting board, desk lamp,
espresso machine, headphones, kettle, keyboard, kitchen scale, laptop stand, mechanical keyboard, notebook, office
chair, rain jacket, running shoes, sleeping bag, standing desk, teapot, tent, travel mug, umbrella, USB cable, wall
clock, water bottle, wool blanket, yoga mat""")

MATERIALS = _split("""aluminium, bamboo, ceramic, cork, cotton, glass, leather, linen, oak, recycled plastic, steel,
wool""")

COLORS = _split("black, blue, green, grey, orange, red, silver, white, yellow")

CATEGORIES = _split("""books, clothing, electronics, furniture, garden, home, kitchen, office, outdoor, sports,
toys, travel""")

TAGS = _split("""bestseller, eco, fragile, gift, handmade, limited, new, popular, premium, sale, seasonal, summer,
vegan, vintage, winter""")

CURRENCIES = _split("EUR, USD, GBP, JPY, CHF")

STATUSES = _split("pending, paid, packed, shipped, delivered, cancelled")

CONDITIONS = _split("""clear, cloudy, foggy, heavy rain, light rain, light snow, overcast, partly cloudy, scattered
showers, sunny, thunderstorms, windy""")

WEEKDAYS = _split("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")

MEETINGS = _split("""budget review, design workshop, dinner, doctor appointment, job interview, lunch, marketing
call, parents evening, planning meeting, product demo, project kickoff, release party, security review, team
breakfast, training""")

ROOMS = _split("Room 12, Room 204, the library, the main hall, the cafeteria, the roof terrace, the office, online")

LOG_MESSAGES = _split("""cache refreshed, connection closed by peer, connection accepted, disk almost full, file not
found, job finished, job started, login failed, message delivered, payment accepted, payment declined, queue is
empty, request timed out, retrying in five seconds, session expired, user logged in, user logged out, worker
restarted""")

SERVICES = _split("auth, billing, cart, gateway, mailer, scheduler, search, storage")

DISHES = _split("""apple pie, carrot cake, chickpea curry, fish soup, lentil soup, mushroom risotto, noodle salad,
onion tart, pancakes, potato salad, roasted vegetables, tomato pasta""")

INGREDIENTS = _split("""butter, carrots, chickpeas, cream, eggs, flour, garlic, lemon, lentils, milk, mushrooms,
olive oil, onions, pepper, potatoes, rice, salt, sugar, tomatoes, yeast""")

OPENINGS = """The museum opens at nine
The train to the coast was late again
We had planned to leave early
The market is busiest before noon
A narrow path leads down to the river
The new library has room for forty readers
It rained for most of the week
Nobody expected the shop to be open
The meeting took longer than planned
From the hill you can see the whole harbour
The last bus leaves at eleven
The report was finished on time""".splitlines()

ENDINGS = """and the children liked it very much
so we took the bicycle instead
because the bridge was closed
but everybody was in a good mood
and there was fresh bread on the table
which surprised the neighbours
so the team decided to wait until spring
although the weather was fine
and the tickets cost less than we thought
and we stayed until the evening""".splitlines()

REVIEW_LINES = """Works as described and arrived on time
The handle broke after two weeks
Good value for the price
I would buy it again
The colour is a little darker than in the picture
Very comfortable and easy to clean
The instructions were hard to follow
My whole family uses it every day
It is quieter than the old one
Too small for our kitchen but well made""".splitlines()
