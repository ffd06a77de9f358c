"""The one table of column names: what each field of a site or a link is called in files.

A name is compared without case, accents of punctuation and unit: "Frequency (MHz)",
"frequency_mhz" and "FREQUENCY" are one name, and the unit is that of the column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from backlane.imports.quantities import UNITS, unit_factor


@dataclass(frozen=True)
class Field:
    """A field with its names.

    Attributes:
        names: normalised aliases, the usual one first.
        kind: of quantity, as in `UNITS`; empty for text.
        unit: assumed where neither the column nor the cell has one.
    """

    names: tuple[str, ...]
    kind: str = ""
    unit: str = ""


SITE: dict[str, Field] = {
    "id": Field((
        "id", "site_id", "siteid", "node_id", "nodeid", "site", "node", "code", "site_code",
        "identifier", "nodes_0_id", "objectid", "fid", "key",
    )),
    "name": Field((
        "name", "site_name", "sitename", "node_name", "label", "title", "hostname", "location_name",
        "nodes_0_name", "nombre", "nom", "bezeichnung", "standort", "city",
    )),
    "latitude": Field((
        "latitude", "lat", "latitude_deg", "lat_deg", "base_lat", "latitude_wgs84", "lat_wgs84",
        "breite", "breitengrad", "latitud", "latitudine", "gps_lat", "site_lat", "y_wgs84",
        "latitude_decimal", "decimal_latitude", "decimallatitude", "latdec", "lat_dec", "lat_dd",
        "latitude_dd", "geo_lat", "geolat", "gpslat", "nodes_0_lat",
    )),
    "longitude": Field((
        "longitude", "lon", "lng", "long", "longitude_deg", "lon_deg", "base_lon", "base_lng",
        "longitude_wgs84", "lon_wgs84", "laenge", "länge", "längengrad", "laengengrad", "longitud",
        "longitudine", "gps_lon", "gps_lng", "site_lon", "x_wgs84", "longitude_decimal",
        "decimal_longitude", "decimallongitude", "londec", "lon_dec", "lon_dd", "long_dd",
        "longitude_dd", "geo_lon", "geo_long", "geo_lng", "geolon", "gpslon", "longdec",
    )),
    "x": Field(("x", "easting", "east", "x_coord", "xcoord", "pos_x", "point_x")),
    "y": Field(("y", "northing", "north", "y_coord", "ycoord", "pos_y", "point_y")),
    "x_m": Field(("x_m", "x_metres", "x_meters", "easting_m", "east_m")),
    "y_m": Field(("y_m", "y_metres", "y_meters", "northing_m", "north_m")),
    "geometry": Field((
        "geometry", "wkt", "the_geom", "geom", "location", "coordinates", "position", "latlon",
        "lat_lon", "latlng", "gps", "nodes_0_location",
    )),
    "height": Field((
        "height", "antenna_height", "install_height", "agl", "height_agl", "tower_height",
        "mast_height", "elevation", "altitude", "alt", "maximum_height", "hoehe", "höhe", "altura",
        "hauteur",
    ), "length", "m"),
    "gateway": Field((
        "gateway", "is_gateway", "gw", "pop", "is_pop", "uplink", "fiber", "fibre", "backhaul",
    )),
    "type": Field(("type", "site_type", "node_type", "kind", "role", "category", "class")),
    "users": Field(("users", "ues", "subscribers", "customers", "clients", "number_of_subscriber")),
}  # fmt: skip

LINK: dict[str, Field] = {
    "a": Field((
        "site_a", "a", "from", "source", "src", "start", "site1", "site_1", "tx_site", "node_a",
        "a_end", "aend", "a_site", "from_site", "from_node", "node1", "node_1", "from_id",
        "site_0", "end_a", "endpoint_a", "source_id", "near_end", "near", "local", "u", "station_a",
        "site_a_name", "site_a_id", "tx", "spans_0_start", "spans_0_start_id",
        "city_a", "node_from",
    )),
    "b": Field((
        "site_b", "b", "to", "target", "dst", "end", "site2", "site_2", "rx_site", "node_b",
        "b_end", "bend", "b_site", "to_site", "to_node", "node2", "node_2", "to_id",
        "site_1", "end_b", "endpoint_b", "target_id", "far_end", "far", "remote", "v", "station_b",
        "site_b_name", "site_b_id", "rx", "spans_0_end", "spans_0_end_id", "dest", "destination",
        "site_z", "z", "z_end", "node_z", "city_z", "city_b", "node_to",
    )),
    "pair": Field(("site_pair", "pair", "link_pair", "endpoints")),
    "name": Field(("link", "link_id", "linkid", "link_name", "id", "name", "spans_0_id")),
    "rate": Field((
        "rate", "capacity", "bitrate", "bit_rate", "throughput", "speed", "link_speed", "linkspeed",
        "data_rate", "datarate", "rate_ab", "capacity_ab", "link_capacity", "max_throughput",
        "spans_0_capacity", "nominal_capacity",
    ), "rate", "mbps"),
    "rate_back": Field((
        "rate_ba", "rate_back", "capacity_ba", "reverse_rate", "rate_reverse", "rx_rate",
    ), "rate", "mbps"),
    "delay": Field((
        "delay", "latency", "propagation_delay", "prop_delay", "one_way_delay",
    ), "time", "ms"),
    "length": Field((
        "length", "distance", "dist", "path_length", "link_length", "hop_length", "len",
        "spans_0_fibrelength", "fibre_length", "fiber_length",
    ), "length", "km"),
    "loss": Field(("loss", "loss_ratio", "packet_loss", "plr", "loss_rate"), "ratio"),
    "frequency": Field((
        "frequency", "freq", "carrier", "carrier_frequency", "center_frequency", "centre_frequency",
        "tx_frequency", "frequency_ab", "freq_ab", "band", "frequency_a",
    ), "frequency", "ghz"),
    "frequency_back": Field((
        "frequency_ba", "freq_ba", "rx_frequency", "frequency_b",
    ), "frequency", "ghz"),
    "bandwidth": Field((
        "bandwidth", "channel_bandwidth", "channel_width", "channel_size", "bw", "channel_spacing",
        "chan_bw",
    ), "frequency", "mhz"),
    "gain_a": Field((
        "antenna_gain_a", "gain_a", "gain_ab", "antenna_gain", "gain", "tx_gain", "tx_antenna_gain",
        "ant_gain",
    ), "gain", "dbi"),
    "gain_b": Field((
        "antenna_gain_b", "gain_b", "gain_ba", "rx_gain", "rx_antenna_gain",
    ), "gain", "dbi"),
    "diameter_a": Field((
        "antenna_diameter_a", "diameter_a", "antenna_diameter", "dish_diameter", "diameter",
        "dish", "antenna_size", "antenna_a", "dish_a", "antenna_size_a",
    ), "length", "m"),
    "diameter_b": Field((
        "antenna_diameter_b", "diameter_b", "antenna_b", "dish_b", "antenna_size_b",
    ), "length", "m"),
    "power": Field((
        "power", "tx_power", "transmit_power", "txpower", "power_a", "tx_power_a",
    ), "power", "dbm"),
    "eirp": Field(("eirp", "erp_isotropic", "tx_eirp", "eirp_a"), "power", "dbm"),
    "losses": Field((
        "losses", "other_losses", "feeder_loss", "feeder_losses", "cable_loss", "misc_loss",
        "misc_losses", "system_loss",
    ), "gain", "db"),
    "noise_figure": Field(("noise_figure", "nf", "rx_noise_figure"), "gain", "db"),
    "rain_rate": Field((
        "rain_rate", "rain_rate_mm_h", "rain_mm_h", "r001", "r0_01", "r001_mm_h", "rain_001",
    )),
    "power_b": Field(("power_b", "tx_power_b"), "power", "dbm"),
    "polarization": Field(("polarization", "polarisation", "pol")),
    "radio": Field(("radio", "model", "device", "equipment", "sku")),
    "modulation": Field(("modulation", "mcs", "max_modulation")),
    "type": Field(("type", "link_type", "medium", "technology", "status")),
    "geometry": Field(("geometry", "wkt", "route", "spans_0_route", "the_geom", "geom")),
}  # fmt: skip

ENDS: dict[str, Field] = {
    "a_lat": Field((
        "site_a_lat", "lat_a", "a_lat", "from_lat", "source_lat", "lat1", "lat_1", "tx_lat",
        "site_0_lat", "latitude_a", "start_lat", "site_a_latitude", "a_latitude", "from_latitude",
        "near_latitude",
    )),
    "a_lon": Field((
        "site_a_lon", "lon_a", "a_lon", "from_lon", "source_lon", "lon1", "lon_1", "tx_lon",
        "site_0_lon", "longitude_a", "start_lon", "site_a_longitude", "a_longitude", "from_lng",
        "from_longitude", "lng1", "near_longitude",
    )),
    "b_lat": Field((
        "site_b_lat", "lat_b", "b_lat", "to_lat", "target_lat", "lat2", "lat_2", "rx_lat",
        "site_1_lat", "latitude_b", "end_lat", "site_b_latitude", "b_latitude", "to_latitude",
        "far_latitude",
    )),
    "b_lon": Field((
        "site_b_lon", "lon_b", "b_lon", "to_lon", "target_lon", "lon2", "lon_2", "rx_lon",
        "site_1_lon", "longitude_b", "end_lon", "site_b_longitude", "b_longitude", "to_lng",
        "to_longitude", "lng2", "far_longitude",
    )),
}  # fmt: skip
"""Positions of both ends in a row of a link."""

LEVEL: dict[str, Field] = {
    "link": Field(("link", "link_id", "cml_id", "id")),
    "direction": Field(("direction", "sublink", "sublink_id", "channel")),
    "time": Field(("time_unix_s", "time", "timestamp", "time_s", "datetime")),
    "tx": Field(("tx_dbm", "tsl", "tx", "tx_level", "tsl_dbm"), "power", "dbm"),
    "rx": Field(("rx_dbm", "rsl", "rx", "rx_level", "rsl_dbm"), "power", "dbm"),
}

TRACE: dict[str, Field] = {
    "time": Field((
        "time_s", "time", "t", "timestamp", "time_ms", "seconds", "time_unix_s", "datetime",
    ), "time", "s"),
    "rate": Field((
        "rate_bps", "rate", "capacity", "throughput", "bandwidth", "bitrate", "dl_bitrate",
        "goodput", "dl_rate", "downlink",
    ), "rate", "mbps"),
}  # fmt: skip

TABLES = {
    "sites": SITE,
    "links": LINK,
    "positions of both ends of a link": ENDS,
    "levels": LEVEL,
    "rates over time": TRACE,
}
"""All fields, by what a row is."""

GATEWAY_WORDS = frozenset({
    "pop", "gateway", "gw", "epc", "core", "internet", "internet_gateway", "exchange", "fibre_pop",
    "fiber_pop", "supernode_gateway",
})  # fmt: skip
"""Types of a site that say that it leads to the core network."""
FORWARD_WORDS = frozenset({
    "ila", "fused", "amplifier", "repeater", "edfa", "waypoint", "seacable_waypoint",
})  # fmt: skip
"""Types of a place that forwards and has no users."""
NO_SITE_WORDS = frozenset({"demand", "demand_site"})
"""Types of points that are no sites."""


def normal(name: str) -> str:
    """A column name in lower case with underscores, without punctuation."""
    name = re.sub(r"(?<=[a-z]{2})(?=[A-Z][a-z])", "_", name.strip().strip("\ufeff\"'"))
    return re.sub(r"[^\w%]+", "_", name.lower()).strip("_")


@dataclass(frozen=True)
class Column:
    """A column that stands for a field.

    Attributes:
        index: of the column.
        title: as the file writes it.
        factor: of its unit; None where the title has none.
    """

    index: int
    title: str
    factor: float | None


def _match(name: str, field: Field) -> tuple[int, float | None] | None:
    """The rank of a title among the names of a field, and the factor of the unit in the title."""
    if name in field.names:
        index = field.names.index(name)
        # A name of the table may itself end in a unit: "tx_dbm", "time_unix_s", "rate_bps".
        tail = name.rpartition("_")[2]
        return index, unit_factor(field.kind, tail) if field.kind and "_" in name else None
    if not field.kind:
        return None
    for parts in (1, 2, 3):
        pieces = name.split("_")
        if len(pieces) <= parts:
            break
        base, unit = "_".join(pieces[:-parts]), "_".join(pieces[-parts:])
        factor = unit_factor(field.kind, unit)
        if factor is not None and base in field.names:
            return field.names.index(base), factor
    return None


def find(header: list[str], table: dict[str, Field]) -> dict[str, Column]:
    """The columns that stand for the fields of a table; a column stands for one field at most."""
    found: dict[str, tuple[int, Column]] = {}
    for index, title in enumerate(header):
        name = normal(title)
        best: tuple[int, str, float | None] | None = None
        for key, field in table.items():
            match = _match(name, field)
            if match is not None and (best is None or match[0] < best[0]):
                best = (match[0], key, match[1])
        if best is None:
            continue
        rank, key, factor = best
        # Of several columns for a field, the one with the more usual name; ties: a known unit of
        # the international system before feet and miles, then the first.
        if key not in found or rank < found[key][0]:
            found[key] = (rank, Column(index, title, factor))
    return {key: column for key, (_, column) in found.items()}


assert all(f.kind in UNITS for t in (SITE, LINK, LEVEL, TRACE) for f in t.values() if f.kind)
