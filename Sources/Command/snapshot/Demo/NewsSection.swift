/// A section of the sample newspaper, with the words from which ``NewsWriter`` composes stories.
struct NewsSection: Sendable {
  let name: String
  let tags: [String]
  let subjects: [String]
  let events: [String]
  let sentences: [String]

  static let all = [world, science, sport, culture, city]

  static let world = NewsSection(
    name: "world",
    tags: ["climate", "trade", "rail", "energy", "election", "ports"],
    subjects: [
      "Lisbon", "The coastal states", "A new rail alliance", "The grain council", "Nairobi",
      "The harbour of Gdańsk",
      "Chile’s grid operator", "A night-train company", "The islands’ parliament", "Osaka",
    ],
    events: [
      "agrees on a common timetable", "reopens after eleven months", "publishes its first full accounts",
      "postpones the vote until autumn", "connects the last valley", "doubles its storage by summer",
      "opens the books to auditors", "signs the charter without reservations", "returns to a five-day week",
      "sets a ceiling for fees",
    ],
    sentences: [
      "Negotiators had sat together until four in the morning, with the windows open against the heat.",
      "“We did not get everything, but we got what can be checked,” said the head of the delegation.",
      "Freight had been waiting in the bay for nine days before the first crane moved again.",
      "The figures were first published as a spreadsheet, which readers promptly found two errors in.",
      "Along the line, thirty-one stations get platforms that a wheelchair can reach without help.",
      "The opposition calls the plan late; the ministry calls it finished.",
      "A second reading is expected after the holidays, and few expect surprises.",
      "Local papers report queues, though shorter ones than a year ago.",
      "Independent observers were admitted to all but two of the rooms.",
      "The contract runs to 2041 and can be ended by either side with a year’s notice.",
    ])

  static let science = NewsSection(
    name: "science",
    tags: ["space", "climate", "medicine", "oceans", "materials", "ai"],
    subjects: [
      "A glass that heals itself", "The deep-sea array", "A second look at the comet", "The malaria trial",
      "A battery made of iron", "The oldest known bread", "Seagrass off Crete", "A map of every swift’s nest",
      "The quietest room in Europe", "A telescope the size of a shoebox",
    ],
    events: [
      "surprises those who built it", "passes its first long test", "holds up after ten years of doubt",
      "turns out to be younger than thought", "finds three signals in one night", "is now open to everybody",
      "costs a tenth of what was planned", "needs no cooling at all", "changes a line in the textbooks",
      "gets a name chosen by schoolchildren",
    ],
    sentences: [
      "The team repeated the measurement forty times before it believed the first one.",
      "What looked like noise was a door in the corridor, which has since been oiled.",
      "The data are public, down to the notes that were made in pencil.",
      "“It is a small effect, and that is what makes it interesting,” the lead author writes.",
      "Samples were kept at minus eighty degrees and travelled by train.",
      "Two groups had come to opposite results; both, it seems, had been right about their own instrument.",
      "The next flight is planned for October, weather and budget permitting.",
      "In the control group nothing happened, which was the point.",
      "Volunteers counted for six summers, many of them from their own balconies.",
      "A patent was considered and decided against.",
    ])

  static let sport = NewsSection(
    name: "sport",
    tags: ["football", "cycling", "tennis", "ski", "athletics", "chess"],
    subjects: [
      "The goalkeeper from Graz", "An unseeded player", "The women’s relay", "The last mountain stage",
      "A nineteen-year-old", "The club from the fourth division", "The champion", "A team without a coach",
      "The curling rink", "The marathon",
    ],
    events: [
      "wins in the ninetieth minute", "takes the lead by four seconds", "says goodbye without a medal",
      "stays up on goal difference", "beats the record by a centimetre", "draws a crowd of forty thousand",
      "returns after two operations", "gives the prize money away", "loses, and is applauded",
      "is moved to Sunday because of the wind",
    ],
    sentences: [
      "In the second half the pitch was more water than grass.",
      "“I heard the crowd only when it was over,” she said with the cup under her arm.",
      "The referee looked at the pictures for three minutes and stayed with her decision.",
      "On the final climb nobody wanted to ride in front, so everybody waited.",
      "It was the club’s first away win since the stadium was rebuilt.",
      "Tickets for the return match were gone in eleven minutes.",
      "His father had driven four hundred kilometres and arrived for the last set.",
      "The timekeeping failed for a moment; the hand-held watches agreed to the tenth.",
      "The injured striker followed the game from the ambulance, which had parked behind the goal.",
      "Next week the whole field meets again, on snow that is still being made.",
    ])

  static let culture = NewsSection(
    name: "culture",
    tags: ["film", "opera", "books", "games", "museums", "jazz"],
    subjects: [
      "The small opera house", "A lost reel", "The translation prize", "A game about bees",
      "The Klimt in the attic",
      "The jazz cellar", "A novel in letters", "The puppet theatre", "An orchestra of amateurs",
      "The film museum",
    ],
    events: [
      "opens with a piece nobody knew", "is shown again after ninety years", "goes to a debut",
      "sells a million copies in a month", "proves to be genuine", "moves two streets further",
      "finds an English voice", "plays to an empty house and a full stream", "fills the town hall",
      "stays open at night",
    ],
    sentences: [
      "The stage is bare but for a kitchen table, and that is enough for three hours.",
      "Whoever restored the colours had the patience to leave some of them faded.",
      "“You can translate a joke, but not its pause,” says the winner.",
      "The second act is long; the third makes up for it.",
      "Between the pictures hangs a letter that explains more than the catalogue.",
      "A drummer of seventy-eight set the tempo, and nobody dared to slow down.",
      "The author answers every letter, which delays her next book.",
      "Children under ten get in for nothing and are asked for their opinion.",
      "The recording was made in one take because the church was needed at noon.",
      "It runs until the end of May, on Thursdays with a guided tour.",
    ])

  static let city = NewsSection(
    name: "city",
    tags: ["rail", "housing", "parks", "schools", "health", "markets"],
    subjects: [
      "The tram to the lake", "The market hall", "The swimming pool in the tenth district",
      "A school without bells",
      "The night bus", "The old gasworks", "The bicycle bridge", "The community garden",
      "The district clinic",
      "The library on wheels",
    ],
    events: [
      "runs every six minutes from Monday", "gets a roof after all", "closes for repairs until June",
      "has room for two hundred more", "is saved by its neighbours", "stops where people asked it to",
      "stays free of charge", "opens a week early", "changes its timetable", "finds a new tenant",
    ],
    sentences: [
      "Residents had collected four thousand signatures, some of them twice.",
      "The works begin at the upper end of the street, where the pipes are oldest.",
      "“We measured the noise at night and put a number to it,” says the district’s engineer.",
      "Until then a bus runs in place of the tram, from the other side of the square.",
      "The rent is fixed for ten years, with a clause for hard times.",
      "Forty trees are planted before the first car is parked.",
      "On opening day there is soup, and a brass band if it doesn’t rain.",
      "The lift was promised for spring; which spring was not said.",
      "The doctor comes on Tuesdays and Fridays and needs no appointment.",
      "Complaints go to a mailbox that is in fact read.",
    ])
}
