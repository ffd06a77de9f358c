// A first question about a CSV of one's own: sites, or capacities over time.

/** A scenario that uses the file; null if its columns are neither. */
export function questionOf(name, text) {
  const columns = text.slice(0, 1000).split('\n', 1)[0].trim().toLowerCase().split(',');
  const has = (...names) => names.every((one) => columns.includes(one));
  if (!/^[\w. -]+$/.test(name)) return null;
  if (has('id', 'latitude_deg', 'longitude_deg') || has('id', 'x_m', 'y_m')) return sites(name, text);
  if (has('time_s', 'rate_bps')) return capacity(name);
  return null;
}

function sites(name, text) {
  const first = (text.split('\n')[1] ?? '').split(',')[0].trim();
  return `# Which routing serves these sites best? Links join near sites; the first site has the gateway.
# Change the rate of the links, the gateway and the number of users.

name = "my sites"
duration = "60 s"

[topology]
kind = "sites"
file = "${name}"
links = { rule = "mst", degree_cap = 4, extra_degree = 3 }
link = { rate = "200 Mbit/s", delay = "per length", fixed_delay = "0.5 ms", queue = "500 kB" }

[[gateway]]
node = "epc"
attach = "${first.replaceAll('"', '')}"
link = { rate = "1 Gbit/s", delay = "0.5 ms", queue = "1 MB" }

[[server]]
node = "server"
attach = "epc"
link = { rate = "10 Gbit/s", delay = "5 ms" }

[access]
kind = "ideal"
rate = "350 Mbit/s"
delay = "10 ms"
ues = 20

[[flow]]
kind = "download"
size = "5 MB"
start = "uniform 0 s 10 s"

[sweep]
"routing" = [
  { protocol = "olsr", warm_up = "30 s" },
  { protocol = "bp-mr", granularity = "packet" },
  { protocol = "bp-mr", granularity = "flow" },
]
seeds = 3
`;
}

function capacity(name) {
  return `# Which congestion control suits a link with these rates over time?

name = "my link"
duration = "60 s"

[topology]
kind = "chain"
nodes = 1
link = { rate = "1 Gbit/s", delay = "1 ms" }

[[gateway]]
node = "epc"
attach = "enb1"
link = { rate = "1 Gbit/s", delay = "1 ms" }

[[server]]
node = "server"
attach = "epc"
link = { rate = "1 Gbit/s", delay = "10 ms" }

[access]
kind = "trace"
downlink = "${name}"
uplink = "${name}"
at_end = "repeat"
delay = "10 ms"
queue = "375 kB"
per_enodeb = { enb1 = 1 }

[[flow]]
kind = "download"
size = "endless"

[sweep]
"tcp.congestion_control" = ["cubic", "bbr", "reno", "vegas"]
seeds = 1
`;
}
