"""A client of a language server of TOML, over stdin and stdout, for tests."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class TomlServer:
    """A server of one folder of files."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._folder = folder
        self._asked = 0
        self._received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        text = {"completion": {}, "hover": {"contentFormat": ["markdown"]}, "diagnostic": {}}
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "test"}],
                "capabilities": {"textDocument": text},
            },
        )
        self._send({"method": "initialized", "params": {}})

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        length = 0
        while line := stdout.readline():
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
            elif not line.strip():
                self._received.put(json.loads(stdout.read(length)))
        self._received.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stdin.flush()

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        """The result of a request."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": parameters})
        while True:
            message = self._received.get(timeout=120)
            assert message is not None, "the server has ended"
            if "method" in message and "id" in message:
                # The server asks for settings; there are none.
                self._send({"id": message["id"], "result": None})
            elif message.get("id") == self._asked:
                assert "error" not in message, message
                return message["result"]

    def open(self, name: str, text: str) -> dict[str, Any]:
        """Open a file of this text; what names it in requests."""
        path = self._folder / name
        path.write_text(text)
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "toml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        # Requests may overtake the notice; those of a file that is not open have no result.
        of_file = {"textDocument": {"uri": uri}}
        for _ in range(1000):
            if self.ask("textDocument/documentSymbol", of_file) is not None:
                return of_file
        raise TimeoutError(name)

    def at(self, name: str, marked: str) -> dict[str, Any]:
        """Open a text without its first `|`; the place of that."""
        before, _, after = marked.partition("|")
        document = self.open(name, before + after)
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        return {**document, "position": {"line": line, "character": column}}

    def complete(self, name: str, marked: str) -> list[str]:
        """The labels that the server offers at `|`."""
        found = self.ask("textDocument/completion", self.at(name, marked))
        items = found["items"] if isinstance(found, dict) else found or []
        return [item["label"] for item in items]

    def hover(self, name: str, marked: str) -> str:
        """What the server shows of the key at `|`, in Markdown."""
        return str(self.ask("textDocument/hover", self.at(name, marked))["contents"]["value"])

    def diagnose(self, name: str, text: str) -> list[tuple[int, str]]:
        """Line, from 1, and message of each problem and warning."""
        found = self.ask("textDocument/diagnostic", self.open(name, text))
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found["items"]]

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()
