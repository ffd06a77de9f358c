//! The codes with their long explanations.

use super::{Code, Entry, entry};

/// Every code, in the order of its number and of [`Code`].
pub(crate) const ENTRIES: &[Entry] = &[
    entry(
        Code::Syntax,
        "S001",
        "The text is not valid TOML",
        "A scenario is a TOML 1.1 document. The mark shows where the reader lost the thread; \
         the cause is often a missing quote, a missing bracket or a key that stands twice.",
        Some("duration = \"120 s"),
    ),
    entry(
        Code::Unreadable,
        "S002",
        "A file cannot be read",
        "The scenario or a file that it names does not exist, is a folder, a pipe or a device, or may \
         not be read. A relative path counts from the folder of the scenario file. A resolved scenario names \
         no files.",
        Some("file = \"no-such-file.csv\""),
    ),
    entry(
        Code::NotUtf8,
        "S003",
        "A file is not UTF-8",
        "Scenario files and CSV files are text in UTF-8. Save the file again with that \
         encoding.",
        None,
    ),
    entry(
        Code::TooLarge,
        "S004",
        "A file is too large",
        "A scenario file may have 64 MiB and a CSV file 256 MiB, 20 million rows and 1000 \
         columns. A network of that size is better described by a generator.",
        None,
    ),
    entry(
        Code::UnknownKey,
        "S010",
        "A key is not known",
        "Every key is checked, so that a misspelled one is not silently ignored. The nearest \
         known key is named; `backlane schema` lists them all. Which keys a section knows may \
         depend on its `kind`, `protocol`, `rule` or `discipline`.",
        Some("rowz = 5"),
    ),
    entry(
        Code::MissingKey,
        "S011",
        "A required key is missing",
        "The section cannot be understood without this key, and no default would be right for \
         everybody.",
        Some("[topology]\nkind = \"grid\"   # rows, columns, link are missing"),
    ),
    entry(
        Code::WrongType,
        "S012",
        "A value has the wrong type",
        "For instance a text where a number is expected, or one value where a list is expected.",
        Some("rows = \"five\""),
    ),
    entry(
        Code::UnknownWord,
        "S013",
        "A word is not one of those known here",
        "The key takes one of a few words; the nearest is named.",
        Some("protocol = \"ospf\""),
    ),
    entry(
        Code::MissingUnit,
        "S014",
        "A quantity needs a unit",
        "A physical quantity is a text with a number and a unit (\"500 Mbit/s\", \"4 ms\", \"10 \
         MB\"). A bare number would leave the unit to guesswork.",
        Some("rate = 500"),
    ),
    entry(
        Code::UnknownUnit,
        "S015",
        "A unit is not known or is not one of this quantity",
        "Times: ps, ns, us, ms, s, min, h. Rates: bit/s and B/s with k, M, G, T or Ki, Mi, Gi. \
         Sizes: B with k to E or Ki to Ei, and bit with k, M, G. Lengths: um, mm, cm, m, km. \
         Upper and lower case matter: \"MB\" is a megabyte, \"mb\" is nothing.",
        Some("delay = \"4 sec\""),
    ),
    entry(
        Code::NotAQuantity,
        "S016",
        "A text is not a quantity",
        "The text must begin with a decimal number.",
        Some("delay = \"fast\""),
    ),
    entry(
        Code::Range,
        "S017",
        "A value is out of range",
        "The value is larger or smaller than this key allows. Limits: one exabyte, one hour of \
         delay, 30 days of simulated time, a million nodes, links, UEs or flows.",
        Some("size = \"2 EB\""),
    ),
    entry(
        Code::Negative,
        "S018",
        "A value is negative",
        "The key takes zero or a positive value.",
        Some("delay = \"-4 ms\""),
    ),
    entry(
        Code::Lossy,
        "S019",
        "A value is finer than can be kept",
        "Times are whole picoseconds, rates whole bits per second and sizes whole bytes. A \
         value between two of them is refused rather than rounded in silence.",
        Some("delay = \"0.3 ps\""),
    ),
    entry(
        Code::Zero,
        "S020",
        "A value must not be zero",
        "A rate, a size or an interval of zero would stop the simulation or let it run forever.",
        Some("rate = \"0 bit/s\""),
    ),
    entry(
        Code::BadStart,
        "S021",
        "A start time cannot be read",
        "A start is \"staggered\", a time (\"4 s\"), \"uniform 0 s 5 s\" or \"every 50 ms from 4 \
         s\"; the time after \"every\" may be drawn, as in \"every uniform 0 s 100 ms from 4 s\".",
        Some("start = \"soon\""),
    ),
    entry(
        Code::BadQueue,
        "S022",
        "A queue limit cannot be read",
        "A queue limit is a number of bandwidth-delay products (\"1 bdp\"), a size (\"500 kB\") \
         or a number of packets (\"340 packets\").",
        Some("queue = \"large\""),
    ),
    entry(
        Code::Empty,
        "S023",
        "A value is empty",
        "An empty list, text or table stands where at least one element is needed.",
        Some("from = []"),
    ),
    entry(
        Code::BadName,
        "S024",
        "A name has a character that names cannot have",
        "Names of nodes are 1 to 64 letters, digits, '-', '_' and '.', so that they can stand \
         in column and file names. No text holds control characters, such as line breaks and \
         escapes: a screen would obey them instead of showing them.",
        Some("id = \"a b\""),
    ),
    entry(
        Code::BadLaw,
        "S025",
        "A size or a gap of flows is not usable",
        "Either is a quantity, or drawn for each flow: \"uniform 50 kB 500 kB\", the smaller value \
         first, or \"exponential 500 kB\", with the mean. Flows that go one after another need a \
         size: after an endless one no other would have its turn.",
        Some("size = \"normal 50 kB\""),
    ),
    entry(
        Code::DuplicateId,
        "S030",
        "Two nodes have the same id",
        "Ids are unique over generators, gateways and servers, and none is \"ues\" or a UE's \
         name (ue1, ue2, …).",
        Some("[[topology.node]]\nid = \"a\"   # twice"),
    ),
    entry(
        Code::UnknownNode,
        "S031",
        "A link or gateway names a node that does not exist",
        "Links name the ids of nodes, gateways and servers; the nearest known id is named.",
        Some("b = \"enb99\""),
    ),
    entry(
        Code::SelfLink,
        "S032",
        "A link joins a node to itself",
        "Such a link would carry nothing; write two different ends.",
        Some("a = \"n1\"\nb = \"n1\""),
    ),
    entry(
        Code::Disconnected,
        "S033",
        "A part of the network cannot be reached",
        "The network must be one piece; the message names a node that no link leads to from the \
         first node. With generated links, `connect = true` joins the pieces.",
        None,
    ),
    entry(
        Code::TooManyNodes,
        "S034",
        "The network is too large",
        "A network may have a million nodes and a million links.",
        Some("rows = 5000\ncolumns = 5000"),
    ),
    entry(
        Code::NoNodes,
        "S035",
        "The network has no nodes",
        "A topology must give at least one node.",
        None,
    ),
    entry(
        Code::ParallelLink,
        "S036",
        "Two links join the same nodes",
        "Both are used, as parallel links. If that is not meant, remove one.",
        None,
    ),
    entry(
        Code::Joined,
        "S037",
        "Pieces of the network were joined",
        "The rule for the links left the network in pieces; the shortest links that join them \
         were added. Write `connect = false` to refuse such a network instead.",
        None,
    ),
    entry(
        Code::ShortQueue,
        "S038",
        "A queue holds less than one full packet",
        "A queue of less than 1500 bytes drops every full packet that has to wait. A bandwidth- \
         delay product is that small on short or slow links.",
        Some("queue = \"100 B\""),
    ),
    entry(
        Code::NoEnodeb,
        "S040",
        "There is no eNodeB for the UEs",
        "UEs attach to nodes of kind \"enodeb\". In a graph, that is the default kind of a \
         node.",
        None,
    ),
    entry(
        Code::NotEnodeb,
        "S041",
        "UEs are placed at a node that is not an eNodeB",
        "Only nodes of kind \"enodeb\" serve UEs.",
        Some("per_enodeb = { epc = 3 }"),
    ),
    entry(
        Code::NotRouter,
        "S042",
        "A server is named where only a node that forwards can stand",
        "Servers are hosts at the edge: packets begin and end there, and each has one link, to a \
         node that forwards. `spray` names nodes that packets pass.",
        Some("[routing]\nspray = [\"server\"]"),
    ),
    entry(
        Code::UnknownEndpoint,
        "S050",
        "A flow names a node that does not exist",
        "The ends of a flow are node ids, \"ues\", single UEs (\"ue7\") or \"server\".",
        Some("from = \"servr\""),
    ),
    entry(
        Code::NoUes,
        "S051",
        "A flow needs UEs but there are none",
        "Add `ues` to [access], with kind = \"ideal\".",
        None,
    ),
    entry(
        Code::NoServer,
        "S052",
        "A flow needs a server but there is none",
        "Add a [[server]] with the node it attaches to, or name another node.",
        None,
    ),
    entry(
        Code::LateStart,
        "S053",
        "A flow starts after the end of the run",
        "No packet of it would ever be sent. Start times count from the end of the warm-up, as \
         does `duration`.",
        Some("duration = \"10 s\"\nstart = \"20 s\""),
    ),
    entry(
        Code::EarlyStop,
        "S054",
        "A flow stops before it starts",
        "`stop` is a time on the same clock as `start`, not a length.",
        Some("start = \"5 s\"\nstop = \"4 s\""),
    ),
    entry(
        Code::SameEnds,
        "S055",
        "A flow leads from a node to itself",
        "Such a flow would not use the network; name two different ends.",
        None,
    ),
    entry(
        Code::NoFlows,
        "S056",
        "There are no flows",
        "The run would only carry routing messages.",
        None,
    ),
    entry(
        Code::UnequalLists,
        "S057",
        "The ends of a flow are lists of different lengths",
        "With lists on both sides, the flows join the first to the first, the second to the \
         second and so on; a single end is joined to each of the other side.",
        Some("from = [\"a\", \"b\"]\nto = [\"c\", \"d\", \"e\"]"),
    ),
    entry(
        Code::UnknownRecorded,
        "S058",
        "A flow or link to be recorded does not exist",
        "`record.flows` names UEs or other ends of flows, `record.links` names links as \
         \"a-b\".",
        None,
    ),
    entry(
        Code::TooManyFlows,
        "S059",
        "There are too many flows",
        "A run may have a million flows.",
        None,
    ),
    entry(
        Code::UnknownSweepKey,
        "S060",
        "A swept or overridden key does not exist, or is no parameter",
        "A sweep key is the path of a key in the file, with dots: \"access.ues\", \
         \"tcp.congestion_control\", \"flow.size\" (every flow), \"flow.0.size\" (the first). Each \
         is swept once. `seed` and `name` are no parameters: write `seeds = [1, 2, 3]`.",
        Some("\"acces.ues\" = [25, 50]"),
    ),
    entry(
        Code::EmptySweep,
        "S061",
        "A sweep list is empty",
        "A sweep over no values has no runs.",
        Some("\"access.ues\" = []"),
    ),
    entry(
        Code::TooManyRuns,
        "S062",
        "The sweep has too many runs",
        "The product of the lists and the seeds is limited to 1 000 000 runs. Split the \
         campaign.",
        Some("seeds = 1000001"),
    ),
    entry(
        Code::BadSeeds,
        "S063",
        "The seeds are not usable",
        "`seeds` is a number of seeds of at least 1, or a list of different non-negative \
         integers. A number counts from `seed`. The largest seed is 9223372036854775807, 2^63 - 1.",
        Some("seeds = 0"),
    ),
    entry(
        Code::PlanTooLarge,
        "S064",
        "The plan is too large",
        "Every cell of a sweep is resolved and written out in full; all of them together may have \
         1 GiB of text, and about five million nodes, links and UEs. Split the campaign, or take a \
         smaller network.",
        None,
    ),
    entry(
        Code::SweepInRun,
        "S065",
        "A single run cannot have a sweep",
        "Where one run is asked for, as of a resolved scenario, there is one combination of values.",
        None,
    ),
    entry(
        Code::BadOverride,
        "S066",
        "An override cannot be read",
        "An override is KEY=VALUE, where the key is a path with dots.",
        Some("--set access.ues"),
    ),
    entry(
        Code::BadLabel,
        "S067",
        "A label of a sweep is not usable",
        "A table in the list of a sweep may bring the `label` by which tables and figures call \
         it: a text that is not empty, and different from the other labels of its list. No label \
         holds control characters.",
        Some("[sweep]\n\"tcp\" = [{ label = 3, sack = false }]"),
    ),
    entry(
        Code::SameCells,
        "S068",
        "Values of a sweep make the same scenario",
        "Two cells resolve to one scenario, as with two labels of one default, one quantity in two \
         spellings or one value twice. Their runs are carried out once and count for both. Remove \
         one of the values, unless two labels are meant.",
        Some("[sweep]\n\"flow.size\" = [\"1 kB\", \"1000 B\"]"),
    ),
    entry(
        Code::CsvColumn,
        "S070",
        "A CSV file lacks a column",
        "Sites need id and either latitude_deg and longitude_deg or x_m and y_m; links need \
         site_a and site_b, and may have length_km. Traces need time_s and one of rate_bps, \
         sinr_db and cqi.",
        None,
    ),
    entry(
        Code::CsvRow,
        "S071",
        "A CSV row has the wrong number of fields",
        "The row is cut short or has a stray comma.",
        None,
    ),
    entry(
        Code::CsvNumber,
        "S072",
        "A CSV field is not a number",
        "Numbers are plain decimal, with a point; NaN and infinities are not accepted.",
        None,
    ),
    entry(
        Code::CsvRange,
        "S073",
        "A CSV coordinate or length is out of range",
        "Latitudes lie between -90 and 90 degrees, longitudes between -180 and 180 degrees, \
         metres within 100 000 km. No link has a negative length.",
        None,
    ),
    entry(
        Code::CsvDuplicate,
        "S074",
        "A CSV id stands twice",
        "Every site has its own id; rename or remove one of the two rows.",
        None,
    ),
    entry(
        Code::CsvEmpty,
        "S075",
        "A CSV file has no rows",
        "At least one site is needed below the header line.",
        None,
    ),
    entry(
        Code::CsvSite,
        "S076",
        "A CSV row names a site that does not exist",
        "The links file names sites of the sites file.",
        None,
    ),
    entry(
        Code::CsvQuote,
        "S077",
        "A CSV quote is not closed",
        "A field in double quotes ends with a double quote on the same line.",
        None,
    ),
    entry(
        Code::BadControl,
        "S080",
        "A congestion control of one's own is not named rightly",
        "A class in a Python file is \"python:FILE:CLASS\", the path counting from the folder of \
         the scenario. See the guide to custom congestion controls.",
        Some("congestion_control = \"python:aimd.py\""),
    ),
    entry(
        Code::BadFailure,
        "S081",
        "A failure is not usable",
        "A failure names either a node or a link \"a-b\", and begins before the end of the run and \
         before its own end, on the clock of the flows' `start`.",
        Some("[[failure]]\nnode = \"enb2\"\nat = \"10 s\"\nuntil = \"5 s\""),
    ),
    entry(
        Code::NoPosition,
        "S082",
        "A node has no position",
        "Euclidean distances need the position of every node but servers. Gateways have none: in \
         a topology of kind \"graph\" every node may have x and y.",
        Some("[routing]\nprotocol = \"bs\"\ndistance = \"euclidean\""),
    ),
    entry(
        Code::BadClass,
        "S083",
        "A Python class is not named rightly",
        "A class in a Python file is \"FILE:CLASS\", the path counting from the folder of the \
         scenario. See the guide to routers in Python.",
        Some("[routing]\nprotocol = \"python\"\nrouter = \"hot_potato.py\""),
    ),
    entry(
        Code::TraceEmpty,
        "S090",
        "A trace is too short",
        "A table needs two rows: the last value lasts as long as the one before it. A file of \
         delivery opportunities lasts until its last line, which must not be 0.",
        None,
    ),
    entry(
        Code::TraceOrder,
        "S091",
        "Times of a trace go backwards",
        "Each row of a table is later than the one before; the lines of a file of delivery \
         opportunities may repeat a time. Times are kept as whole nanoseconds.",
        None,
    ),
    entry(
        Code::TraceGap,
        "S092",
        "A trace has a gap",
        "Two rows are further apart than `max_gap`, 10 s unless stated, or the first row is so \
         late. That is more often a hole in a recording than a value that really stayed. Times \
         count from the start of the flows' clock, not from 1970; before the first row its value \
         holds.",
        None,
    ),
    entry(
        Code::TraceValue,
        "S093",
        "A value of a trace is out of range",
        "Times lie between 0 s and 30 days, capacities between 0 and 1e15 bit/s, SINR between \
         -100 and 100 dB, CQI between 0 and 15, gains of fading between -200 and 100 dB. Mind the \
         unit in the column's name.",
        None,
    ),
    entry(
        Code::TraceLine,
        "S094",
        "A line of a trace is not a time in milliseconds",
        "Without a header, a capacity trace is a file in the format of mahimahi: each line is an \
         integer, the millisecond of one opportunity to deliver 1500 bytes. With a header it is a \
         table with the columns time_s and rate_bps.",
        Some("12.5"),
    ),
    entry(
        Code::TraceChoice,
        "S095",
        "It is not clear which trace is meant",
        "A channel names one file, for `sinr` or for `cqi`. Where a file has several runs or \
         entities, as a recorded series has, `run` and `entity` choose one.",
        Some("channel = { sinr = \"walk.csv\", cqi = \"walk.csv\", at_end = \"hold\" }"),
    ),
    entry(
        Code::TraceEnd,
        "S096",
        "A trace cannot end like this",
        "A file of delivery opportunities has no last rate that could stay: after its end it \
         begins again, as in mahimahi, or nothing is delivered any more.",
        Some("at_end = \"hold\""),
    ),
    entry(
        Code::TraceBlocks,
        "S097",
        "A fading trace does not fit",
        "A fading trace has a line for each resource block of the widest carrier, or more, and in \
         each line as many values as in the first, one for each millisecond. A window lasts a \
         whole number of milliseconds.",
        Some("fading_trace = { file = \"eva.fad\", window = \"0.5 ms\" }"),
    ),
    entry(
        Code::BadUe,
        "S100",
        "A UE's place or way is not clear",
        "A UE of an LTE access is either near an eNodeB, at a distance and in a bearing, or at x \
         and y. A speed needs a heading: outward from the eNodeB or inward to it, until a \
         distance that lies ahead, or an angle. UEs are listed one by one or counted by `ues` or \
         `per_enodeb`, not both.",
        Some("[[access.ue]]\nnear = \"enb1\"\nx = \"100 m\""),
    ),
    entry(
        Code::BeyondLte,
        "S101",
        "The radio network is beyond what LTE allows",
        "A UE uses at most five component carriers (TS 36.331), and the downlink has no more \
         layers than antenna ports. A radio link is in sync from a SINR on that is not out of sync.",
        Some("layers = 4\nantenna_ports = 2"),
    ),
    entry(
        Code::OutOfReach,
        "S102",
        "A UE is out of reach",
        "The SNR of the cell that a UE is received by, or given, is below Q_out where the UE \
         begins. It gets no data until it comes nearer; if it does not move, it gets none at all.",
        Some("[[access.ue]]\nnear = \"enb1\"\ndistance = \"40 km\""),
    ),
    entry(
        Code::BeyondPathLoss,
        "S103",
        "A path loss is extrapolated",
        "Laws of path loss were measured within ranges of distance, frequency and height. Outside \
         they go on smoothly, and nobody knows how well. The page on radio tells the ranges.",
        Some("path_loss = \"okumura-hata\"\n[[access.carrier]]\nfrequency = \"2.655 GHz\""),
    ),
    entry(
        Code::NoRadio,
        "S110",
        "Something needs a radio that is not there",
        "A link with medium = \"wifi\" and the channels of a node need the section [wifi]. Routers \
         and eNodeBs then have a radio on each of their channels; gateways and servers are reached \
         by wires.",
        Some("link = { medium = \"wifi\" }   # and no [wifi]"),
    ),
    entry(
        Code::DeafStation,
        "S111",
        "A station has no radio on any neighbour's channel",
        "Radios on different channels do not hear each other. The two ends of a link need a \
         common channel; where neighbours are those in range, every node needs a channel that \
         another node has.",
        Some("node = [{ id = \"a\", channels = [1] }, { id = \"b\", channels = [6] }]"),
    ),
    entry(
        Code::BadRate,
        "S112",
        "A rate is not one of the standard's",
        "802.11b has 1, 2, 5.5 and 11 Mbit/s, 802.11a has 6, 9, 12, 18, 24, 36, 48 and 54 Mbit/s, \
         802.11g has all of them.",
        Some("[wifi]\nstandard = \"802.11b\"\nrate = \"54 Mbit/s\""),
    ),
    entry(
        Code::LossyLink,
        "S113",
        "Lossy links are not clear",
        "`wifi.lossy_links` is \"all\" or names links over 802.11 as \"a-b\", in either order; \
         `wifi.loss` says what they lose.",
        Some("lossy_links = [\"A-Z\"]"),
    ),
    entry(
        Code::LongRadioLink,
        "S114",
        "A listed radio link is out of range",
        "Its ends decode less than one in a hundred of each other's frames, even without \
         interference. It stays in the network and carries next to nothing. Give it a loss, so that \
         it works whatever its length, or bring its ends nearer.",
        Some(
            "node = [{ id = \"a\", x = \"0 m\", y = \"0 m\" }, { id = \"b\", x = \"9 km\", y = \"0 m\" }]",
        ),
    ),
    entry(
        Code::Partitioned,
        "S115",
        "The radio network is in pieces",
        "There is no way between some of its nodes. A run takes its time limit and tells what was \
         measured; flows between the pieces get nothing through.",
        None,
    ),
    entry(
        Code::BadRadio,
        "S116",
        "The radios contradict themselves",
        "What can be decoded must be sensed too: `carrier_sense` is not above the sensitivity. The \
         first contention window, `cw_min`, is not above the largest, `cw_max`. Reception \
         \"pairwise\", ns-2's, knows no `recapture`. Two nodes have one link for each channel \
         that both have.",
        Some("[wifi]\ncarrier_sense = \"-60 dBm\""),
    ),
    entry(
        Code::BadImpairment,
        "S120",
        "Impairments contradict the wire",
        "A packet cannot arrive before its transmission ends: a uniform jitter is at most the delay \
         of the wire, and four standard deviations of a normal jitter are. `reorder` lets a packet \
         skip the delay, which must not be zero.",
        Some(
            "link = { rate = \"1 Gbit/s\", delay = \"1 ms\", impairments = { jitter = \"2 ms\" } }",
        ),
    ),
    entry(
        Code::IdleWarmUp,
        "S121",
        "A wire carries nothing in the warm-up",
        "A `capacity` counts from the start of the flows' clock. In the warm-up before it the first rate of \
         a table or of `steps` holds. A file of delivery opportunities has no rate, so that routing \
         messages would wait until the flows start. Write `warm_up = \"0 s\"`, or a table of rates.",
        Some("[routing]\nprotocol = \"olsr\"   # and capacity = { file = \"trace.mahimahi\", … }"),
    ),
    entry(
        Code::BadCost,
        "S130",
        "A cost is not that of one link",
        "`[[routing.costs]]` names links between routers as \"a-b\", each once.",
        Some("[[routing.costs]]\nlink = \"a-q\"   # and no such link\ncost = 10"),
    ),
    entry(
        Code::BadPath,
        "S131",
        "An explicit path cannot be followed",
        "`nodes` of an entry of `[[routing.explicit_paths]]` are the routers of a path in order, from `from` to \
         `to`: each is linked to the next, and none stands twice. A path stands once; its `weight` is \
         its share.",
        Some(
            "[[routing.explicit_paths]]\nfrom = \"a\"\nto = \"d\"\nnodes = [\"a\", \"c\", \"d\"]   # and no link a-c",
        ),
    ),
    entry(
        Code::BadConflict,
        "S140",
        "A conflict is not between two links",
        "A conflict of a slotted model is a list of two different links, each named \"A-B\" by the \
         nodes that it leads from and to.",
        Some("conflicts = [[\"A-B\", \"C-E\"]]"),
    ),
    entry(
        Code::NoPath,
        "S141",
        "A flow has no path",
        "The links of a slotted model lead in one direction. None of their ways leads from the \
         source of the flow to its destination.",
        Some("[[slotted.flow]]\nfrom = \"D\"\nto = \"A\""),
    ),
    entry(
        Code::ManySlottedLinks,
        "S142",
        "There are more links than the scheduler takes",
        "The exact scheduler of a slotted model takes at most 64 links, since its time may double \
         with each of them; the greedy one takes 1024.",
        Some("scheduler = \"exact\""),
    ),
    entry(
        Code::BadRegion,
        "S143",
        "A region is not that of two flows",
        "A map of stability is drawn over the rates of two different flows, both with `arrivals` \
         \"bernoulli\" or \"constant\". Windows and the flow control have no rate to vary.",
        Some("[slotted.region]\nflows = [\"A-B\"]"),
    ),
    entry(
        Code::TooManyRadios,
        "S150",
        "A node has more radios than channels, or links on more channels than radios",
        "Two radios of one node on one channel would only disturb each other. Give the node fewer \
         radios with `radios = …`, or make more channels `available`.",
        Some("[assignment]\nchannels = \"fcra\"\navailable = [1, 2]\nradios = 3"),
    ),
    entry(
        Code::Unconnected,
        "S151",
        "The channels leave the network in pieces",
        "The ends of a link over 802.11 need a radio each on a common channel. With the channels that \
         the nodes have, some of them cannot reach the others. The message lists the pieces.",
        None,
    ),
    entry(
        Code::Infeasible,
        "S152",
        "The demands do not fit on the channels",
        "A demand with a `rate` must be met by the radios and channels that there are. The message \
         says which of them is short, how much of the demands would fit, and what more would do. \
         A demand without a rate gets what there is.",
        Some("demands = [{ from = \"A\", to = \"C\", rate = \"900 Mbit/s\" }]"),
    ),
    entry(
        Code::BadDemand,
        "S153",
        "A demand is not between two routers of the mesh",
        "A demand leads from one router to another one, over links that are there. Only \
         `flow_rates = \"throughput\"` meets one with a `rate`. Without \
         `demands`, the flows of the file are taken; a mesh that nobody sends over has none.",
        Some("demands = [{ from = \"A\", to = \"A\" }]"),
    ),
    entry(
        Code::BadAssignment,
        "S154",
        "The assignment contradicts the network",
        "With `channels = \"fcra\"` neither nodes nor links nor [wifi] give channels: they are \
         found. The links to assign to are listed, not all in range. Interference by geometry needs \
         the thresholds of the rates, which are known of OFDM. A mesh of more than 2000 links or 500 \
         demands takes too long.",
        Some("[assignment]\nchannels = \"fcra\"\n[wifi]\nchannels = [1, 6]"),
    ),
    entry(
        Code::FlowRate,
        "S155",
        "A link has no flow rate, or the flow rates leave a flow without a way",
        "L2.5R sends over links in proportion to their flow rates. Either every link between \
         routers has a `flow_rate`, \"none\" if it is not to be used, or none has one and all are \
         alike. Those of [assignment] follow from its demands: with demands of one's own, each flow \
         must be among them or find a way over their links.",
        Some("[assignment]\nflow_rates = \"given\"   # and a link without flow_rate"),
    ),
    entry(
        Code::NotSwept,
        "S156",
        "A compared key is not swept",
        "`[compare] keys` names keys of `[sweep]`, each once and as written there: their values are \
         the contenders.",
        Some("[compare]\nkeys = [\"routing.protocol\"]   # and no such key in [sweep]"),
    ),
    entry(
        Code::BadMargin,
        "S157",
        "A margin of equality is no percentage",
        "`[compare] equal_within` is a percentage above 0 % and below 100 %: differences within \
         this share of the best count as none.",
        Some("[compare]\nequal_within = \"5\""),
    ),
    entry(
        Code::BadStack,
        "S158",
        "A flow asks for what its stack cannot do",
        "With `stack = \"linux\"` or \"external\" the ends of a flow run outside the simulation. Such \
         flows have no `gap`, no network coding and no congestion control in Python; an external \
         flow has no size, since the programs that use it decide how much they send.",
        Some("[[flow]]\nkind = \"transfer\"\nstack = \"external\"\nsize = \"1 MB\""),
    ),
    entry(
        Code::BadSysctl,
        "S159",
        "The section [linux] cannot be understood",
        "`kernel` is a version or a name of letters, digits and . _ - +. A setting in `sysctl` is a \
         name with dots below /proc/sys, an equals sign and a value.",
        Some("[linux]\nsysctl = [\"net.ipv4.tcp_sack\"]"),
    ),
];
