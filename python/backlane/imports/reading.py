"""Bounded reading: regular files, gzip and zip, text, JSON and XML.

Nothing here follows a reference out of a file. XML that declares entities is refused, and
archives are unpacked in memory up to a limit.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import stat
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from backlane import machine
from backlane.errors import BacklaneError, read_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_BYTES = 64 << 20
"""The size limit of a file, and of what an archive unpacks to."""
MOST_ELEMENTS = 500_000
"""Elements of an XML file."""
MOST_DEPTH = 100
"""Nesting of XML."""


@dataclass
class File:
    """A file in memory.

    Attributes:
        path: as the user gave it.
        data: its bytes, unpacked.
        sha256: of the bytes on the disk.
        size: of the file on the disk.
    """

    path: Path
    data: bytes
    sha256: str = ""
    size: int = 0

    def at(self, where: object = None) -> str:
        """The place in the file: a line, or a path such as ``nodes[3]``."""
        if where is None:
            return str(self.path)
        return f"{self.path}{':' if isinstance(where, int) else ': '}{where}"

    def bad(self, message: str, at: object = None, fix: str = "correct it") -> BacklaneError:
        """R041 at a place of this file."""
        return BacklaneError("R041", message, self.at(at), fix)

    @cached_property
    def is_utf8(self) -> bool:
        """Whether `text` is certain: UTF-8, or UTF-16 with a mark."""
        try:
            self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.data.startswith((b"\xff\xfe", b"\xfe\xff"))
        return True

    @cached_property
    def text(self) -> str:
        """The content: UTF-8, UTF-16 with a mark, else Windows-1252.

        Raises:
            BacklaneError: R040 when it is binary.
        """
        data = self.data
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            try:
                return data.decode("utf-16")
            except UnicodeDecodeError as error:
                raise self.bad(f"this is no UTF-16: {error.reason}") from error
        if b"\0" in data[: 1 << 20]:
            raise BacklaneError(
                "R040",
                "this is binary data of no format that is known",
                self.path,
                "`backlane import --formats` lists what can be read",
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("cp1252", errors="replace")

    def json(self) -> Any:
        """The content as JSON; objects one after another, or one a line, become a list.

        Raises:
            BacklaneError: R041 with line and column, R042 when it is nested too deeply.
        """
        text = self.text
        decoder = json.JSONDecoder(parse_constant=lambda _: None)
        values = []
        position = 0
        try:
            while True:
                while position < len(text) and text[position] in " \t\r\n,":
                    position += 1
                if position == len(text):
                    break
                value, position = decoder.raw_decode(text, position)
                values.append(value)
        except json.JSONDecodeError as error:
            place = f"{self.path}:{error.lineno}:{error.colno}"
            raise BacklaneError(
                "R041", f"this is no JSON: {error.msg}", place, "correct the file there"
            ) from error
        except RecursionError as error:
            raise BacklaneError(
                "R042", "JSON that is nested too deeply", self.path, "this is no network"
            ) from error
        except ValueError as error:
            raise self.bad(f"this is no JSON: {error}") from error
        if not values:
            raise self.bad("the file is empty")
        return values[0] if len(values) == 1 else values

    def xml(self) -> Element:
        """The content as a tree.

        Raises:
            BacklaneError: R041 with line and column, R042 when it is too large or nested too
                deeply, R043 when it declares entities.
        """
        return _Builder(self).parse()


def load(path: Path) -> File:
    """Read a file; gzip is unpacked.

    Raises:
        BacklaneError: R003 when it cannot be read or is no regular file, R042 when it is too large.
    """
    try:
        # Opening a pipe without a writer would block.
        descriptor = os.open(path, machine.READ_AT_ONCE)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(status.st_mode):
                raise BacklaneError(
                    "R003", "cannot read: this is no regular file", path, "save it to a file"
                )
            # The file may grow while it is read.
            data = b"" if status.st_size > MOST_BYTES else file.read(MOST_BYTES + 1)
    except ValueError as error:
        raise BacklaneError("R003", f"cannot read: {error}", path, "check the name") from error
    except OSError as error:
        raise read_error(error, path) from error
    if max(status.st_size, len(data)) > MOST_BYTES:
        raise _too_large(path, max(status.st_size, len(data)))
    found = File(path, data, hashlib.sha256(data).hexdigest(), len(data))
    if data.startswith(b"\x1f\x8b"):
        found.data = _gunzip(found)
    return found


def _too_large(path: object, size: int) -> BacklaneError:
    return BacklaneError(
        "R042",
        f"{size / (1 << 20):.0f} MiB are more than the {MOST_BYTES >> 20} MiB of an import",
        str(path),
        "import a part of it: cut the file",
    )


def _gunzip(file: File) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(file.data, MOST_BYTES + 1)
    except zlib.error as error:
        raise file.bad(f"damaged gzip: {error}", fix="download it again") from error
    if len(data) > MOST_BYTES:
        raise _too_large(file.path, len(data))
    if not unpacker.eof:
        raise file.bad("damaged gzip: it ends too early", fix="download it again")
    return data


def unzip(file: File, suffixes: tuple[str, ...]) -> bytes:
    """The first member of a zip archive with one of the suffixes; ``doc.kml`` goes first.

    Raises:
        BacklaneError: R041 when it is damaged or has no such member, R042 when it is too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            members = [m for m in archive.infolist() if m.filename.lower().endswith(suffixes)]
            members.sort(key=lambda member: member.filename.lower() != "doc.kml")
            if not members:
                raise file.bad(f"the archive holds no {' or '.join(suffixes)}")
            with archive.open(members[0]) as member:
                data = member.read(MOST_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise file.bad(f"damaged zip: {error}", fix="download it again") from error
    except (NotImplementedError, RuntimeError, ValueError) as error:
        raise file.bad(f"this zip cannot be read: {error}") from error
    if len(data) > MOST_BYTES:
        raise _too_large(file.path, len(data))
    return data


def zip_bomb(file: File) -> None:
    """Refuse an archive whose members say that they unpack to more than `MOST_BYTES`.

    Raises:
        BacklaneError: R041 or R042.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise file.bad(f"damaged zip: {error}", fix="download it again") from error
    if size > MOST_BYTES:
        raise _too_large(file.path, size)


@dataclass(slots=True)
class Element:
    """An element of XML; names have no namespace."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text, stripped."""
        return "".join(self.parts).strip()

    def get(self, name: str) -> str | None:
        """An attribute."""
        return self.attributes.get(name)

    def child(self, *path: str) -> Element | None:
        """The first descendant along a path of names."""
        found: Element | None = self
        for name in path:
            found = next((c for c in found.children if c.name == name), None) if found else None
        return found

    def children_named(self, *names: str) -> list[Element]:
        """The children with one of the names."""
        return [child for child in self.children if child.name in names]

    def text_of(self, *path: str) -> str | None:
        """The text of a descendant; None if it is missing or empty."""
        found = self.child(*path)
        return found.text or None if found is not None else None

    def all(self, *names: str) -> Iterator[Element]:
        """Descendants with one of the names, in the order of the file."""
        waiting = [*reversed(self.children)]
        while waiting:
            element = waiting.pop()
            if element.name in names:
                yield element
            waiting.extend(reversed(element.children))


class _Builder:
    """Builds a tree and refuses what may expand or lead outside."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._parser.ExternalEntityRefHandler = self._external

    def parse(self) -> Element:
        try:
            self._parser.Parse(self._file.data, True)
        except expat.ExpatError as error:
            place = f"{self._file.path}:{error.lineno}:{error.offset + 1}"
            reason = expat.ErrorString(error.code)
            raise BacklaneError(
                "R041", f"this is no XML: {reason}", place, "correct the file there"
            ) from error
        except (ValueError, LookupError) as error:
            raise self._file.bad(f"this is no XML: {error}") from error
        assert self._root is not None  # or expat had raised "no element found"
        return self._root

    @property
    def _place(self) -> str:
        return f"{self._file.path}:{self._parser.CurrentLineNumber}"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) >= MOST_DEPTH:
            what = f"{MOST_ELEMENTS} elements" if self._count > MOST_ELEMENTS else "100 levels"
            raise BacklaneError(
                "R042", f"XML with more than {what}", self._place, "import a part of it"
            )
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        element = Element(name.rpartition(":")[2], plain, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].parts.append(text)

    def _entity(self, name: str, *_more: object) -> None:
        raise BacklaneError(
            "R043",
            f'the XML declares the entity "{name[:40]}"; entities can expand without limit',
            self._place,
            "remove the declaration of the document type",
        )

    def _external(self, *_more: object) -> int:
        raise BacklaneError(
            "R043",
            "the XML refers to another file",
            self._place,
            "put its content into this file",
        )
