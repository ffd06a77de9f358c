"""What an import understands: sites, links, demands and traces, with the place of each in its file.

Every reader fills one `Network`; the writer turns it into a scenario. Ids are those of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from backlane.errors import BacklaneError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backlane.imports.capacities import Traced

MOST_SITES = 100_000
"""Sites of an import; a scenario may have a million nodes."""
MOST_LINKS = 500_000
"""Links of an import, before directions are merged."""
MOST_NAMED = 8
"""Names in a message; the sidecar file has all."""

Kind = Literal["read", "merged", "dropped", "added", "assumed", "warning"]
"""What a note says: understood, joined with another, left out, added, filled in, or doubtful."""
KINDS: tuple[Kind, ...] = ("read", "merged", "dropped", "added", "assumed", "warning")
"""The kinds in the order in which they are printed."""
Unknown = Literal["error", "drop", "create"]
"""What follows when a link names a site that the file does not list."""


@dataclass(frozen=True)
class Note:
    """A sentence about the import."""

    kind: Kind
    text: str


@dataclass
class Site:
    """A place with a router.

    Attributes:
        id: the key in the file.
        place: file and line, or path within the file.
        name: what people call it.
        latitude: in degrees, WGS 84.
        longitude: in degrees, WGS 84.
        x_m: east, in metres, where the file has metres.
        y_m: north, in metres, where the file has metres.
        height_m: of the antenna above ground, or of the place.
        gateway: whether the file says that it leads to the core network.
        forwards_only: a place without users: a waypoint of a cable, a transit network.
        users: how many it has, if the file says so.
        more: other fields that a link budget or a filter may need.
    """

    id: str
    place: str
    name: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    x_m: float | None = None
    y_m: float | None = None
    height_m: float | None = None
    gateway: bool = False
    forwards_only: bool = False
    users: int | None = None
    more: dict[str, str] = field(default_factory=dict)

    @property
    def position(self) -> tuple[float, float] | None:
        """Latitude and longitude, if known."""
        if self.latitude is None or self.longitude is None:
            return None
        return self.latitude, self.longitude

    @property
    def has_position(self) -> bool:
        """Whether it stands anywhere."""
        return self.position is not None or (self.x_m is not None and self.y_m is not None)


@dataclass
class Link:
    """A link between two sites, or one direction of it.

    Attributes:
        a: one end.
        b: the other end.
        place: file and line, or path within the file.
        directed: a row that is only the direction from `a` to `b`.
        rate_bps: from `a` to `b`.
        rate_back_bps: from `b` to `a`, where it is another one.
        rate_note: where the rate comes from, if not from a column of rates.
        delay_s: propagation delay.
        length_m: along the path.
        loss: probability that a packet is lost.
        added: whether the import added it, and why.
        count: how many parallel links it stands for.
        capacity: over time, from recorded levels.
        more: other fields that a link budget may need.
    """

    a: str
    b: str
    place: str
    directed: bool = False
    rate_bps: float | None = None
    rate_back_bps: float | None = None
    rate_note: str | None = None
    delay_s: float | None = None
    length_m: float | None = None
    loss: float | None = None
    added: str | None = None
    count: int = 1
    capacity: Traced | None = None
    more: dict[str, str] = field(default_factory=dict)


@dataclass
class Demand:
    """Traffic between two sites; `unit_bps` is None where the file has no unit."""

    a: str
    b: str
    place: str
    value: float
    unit_bps: float | None = None


@dataclass
class Trace:
    """Capacity over time: milliseconds of opportunities, or points of time and rate."""

    source: str
    stamps_ms: list[int] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)
    uplink: bool | None = None
    mean_bps: float = 0.0
    longest_gap_s: float = 0.0
    length_s: float = 0.0


@dataclass
class Source:
    """A file that was read."""

    path: str
    sha256: str
    size: int
    format: str = ""


@dataclass
class Network:
    """Everything that was understood.

    Attributes:
        positions: what the positions are.
        medium: what the links lead through; decides the speed of light.
        aliases: other names of sites: addresses of one router.
        wants_links: why there are no links, if the file has a reason.
        unknown: what follows when a link names a site that is not listed.
        levels: a sentence about the recorded levels of each link.
        level_series: times and levels in dBm of each link and direction; NaN where one is missing.
        spare: sites that links describe in place, for when no file lists them.
        unitless: links whose length has no unit, by the title of the column.
        leave_out: sites that the file lists and a scenario does not take, with the reason.
    """

    sites: dict[str, Site] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    positions: Literal["geographic", "metres", "drawing", "none"] = "none"
    medium: Literal["air", "fibre"] = "air"
    name: str | None = None
    wants_links: str | None = None
    unknown: Unknown = "error"
    levels: dict[str, str] = field(default_factory=dict)
    level_series: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    spare: dict[str, Site] = field(default_factory=dict)
    leave_out: dict[str, str] = field(default_factory=dict)
    unitless: dict[str, list[Link]] = field(default_factory=dict)

    def note(self, kind: Kind, text: str) -> None:
        """Add a sentence, once."""
        found = Note(kind, text)
        if found not in self.notes:
            self.notes.append(found)

    def listed(self, kind: Kind, text: str, names: list[str]) -> None:
        """Add a sentence that ends in names, if there are any."""
        if names:
            self.note(kind, f"{text}: {some(names)}")

    def texts(self, kind: Kind) -> Iterator[str]:
        """The sentences of a kind."""
        return (note.text for note in self.notes if note.kind == kind)

    def add_site(self, site: Site, repeat: Literal["error", "keep"] = "error") -> Site:
        """Add a site.

        Raises:
            BacklaneError: R045 when its id is empty or taken, R042 when there are too many.
        """
        if not site.id:
            raise BacklaneError("R045", "a site has no id", site.place, "give it one")
        if len(self.sites) >= MOST_SITES:
            raise too_many("sites", MOST_SITES, site.place)
        known = self.sites.get(site.id)
        if known is None:
            self.sites[site.id] = site
            return site
        if repeat == "error":
            raise BacklaneError(
                "R045",
                f'the site "{shown(site.id)}" stands twice',
                site.place,
                f"the first is at {known.place}; rename one of them",
            )
        return known

    def add_link(self, link: Link) -> Link:
        """Add a link; its ends are looked up by `resolve`, when all files are read.

        Raises:
            BacklaneError: R042 when there are too many.
        """
        if len(self.links) >= MOST_LINKS:
            raise too_many("links", MOST_LINKS, link.place)
        self.links.append(link)
        return link

    def resolve(self) -> None:
        """Replace aliases by ids; treat links to unknown sites as `unknown` says.

        Raises:
            BacklaneError: R045 for the first link to an unknown site.
        """
        kept, outside = [], []
        if not self.sites and (self.links or self.spare):
            for site in self.spare.values():
                self.add_site(site)
            if not self.sites and self.unknown == "error":
                self.note("read", "no file lists sites: they are the ends of the links")
                self.unknown = "create"
        names: dict[str, str] = {}
        for site in self.sites.values():
            if site.name and site.name not in self.sites:
                # A name that two sites have stands for neither.
                names[site.name] = "" if site.name in names else site.id
        for link in self.links:
            link.a, link.b = (self._id_of(end, names) for end in (link.a, link.b))
            missing = [end for end in (link.a, link.b) if end not in self.sites]
            if missing and self.unknown == "drop":
                outside.append(f"{shown(link.a)}–{shown(link.b)}")
                continue
            for end in missing:
                if self.unknown == "error":
                    raise self.no_such_site(end, link.place)
                self.add_site(Site(end, link.place))
            kept.append(link)
        self.links = kept
        self.listed("dropped", f"{count(outside, 'link')} to sites outside of the file", outside)
        demands = []
        for demand in self.demands:
            demand.a, demand.b = (self._id_of(end, names) for end in (demand.a, demand.b))
            for end in (demand.a, demand.b):
                if end not in self.sites:
                    raise self.no_such_site(end, demand.place)
            demands.append(demand)
        self.demands = demands

    def _id_of(self, end: str, names: dict[str, str]) -> str:
        if end in self.sites:
            return end
        alias = self.aliases.get(end, end)
        return alias if alias in self.sites else names.get(alias) or alias

    def no_such_site(self, end: str, place: str) -> BacklaneError:
        """The error for a name that no site has."""
        near = get_close_matches(end, [*self.sites][:5000], 1, 0.6)
        if near:
            fix = f'did you mean "{shown(near[0])}"?'
        elif self.sites:
            fix = "add it to the sites, or give --unknown drop to leave such links out"
        else:
            fix = "give the file with the sites too, or --unknown create to make sites of the ends"
        return BacklaneError("R045", f'there is no site "{shown(end)}"', place, fix)


def too_many(what: str, limit: int, place: str) -> BacklaneError:
    """The error for a file that lists more than an import takes."""
    return BacklaneError(
        "R042", f"more than {limit} {what}", place, "import a part of it: cut the file"
    )


def count(things: object, noun: str) -> str:
    """``1 site``, ``2 sites``."""
    number = things if isinstance(things, int) else len(things)  # type: ignore[arg-type]
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(names: list[str]) -> str:
    """The first names, and how many more there are."""
    text = ", ".join(names[:MOST_NAMED])
    return text if len(names) <= MOST_NAMED else f"{text} and {len(names) - MOST_NAMED} more"


def shown(text: str) -> str:
    """A text of a file on one line, of bounded length, without control characters."""
    kept = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= 60 else f"{kept[:57]}..."
