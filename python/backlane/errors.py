"""Errors of the Python side: each has a code, the place, the cause and the fix.

Problems inside a scenario file carry ``S`` codes and come from the compiled module;
the ``R`` codes here are about files, folders and results.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

EXIT_OK = 0
"""Success."""
EXIT_PROBLEM = 1
"""A run or a check found a problem."""
EXIT_USAGE = 2
"""Bad usage, a bad file, or the system refused to read or write."""
EXIT_INTERNAL = 101
"""A defect of Backlane itself."""
EXIT_INTERRUPTED = 130
"""Stopped by Ctrl-C."""

CODES: dict[str, tuple[str, str]] = {
    "R001": (
        "cannot write here",
        "The results folder, or a file in it, cannot be created or written: it belongs to "
        "another user, it is mounted read-only, or a file stands where a folder is needed.\n\n"
        "Choose another place with --out DIR, or change the permissions of the folder. "
        "Finished runs that are already in the folder stay valid.",
    ),
    "R002": (
        "disk full",
        "The file system has no space (or no quota) left. Every result is first written to a "
        "temporary name and renamed when it is complete, so nothing half-written is taken for "
        "finished.\n\n"
        "Free some space and start the same command again: a campaign goes on where it "
        "stopped. --out DIR puts the results on another disk.",
    ),
    "R003": (
        "cannot read this file",
        "The file does not exist, is a folder, a pipe or a device, is larger than 64 MiB, has a "
        "name that is not UTF-8, or may not be read by this user.",
    ),
    "R004": (
        "file is not UTF-8 text",
        "Scenario files are UTF-8. The message names the line and the byte that is not. "
        "Convert the file, for example with `iconv -f latin1 -t utf-8`.",
    ),
    "R005": (
        "folder is in use",
        "Another process is running a campaign in the same folder. Two processes on one folder "
        "would carry out the same runs twice.\n\n"
        "Wait for the other one, give this one another --out DIR, or split the work with "
        "--shard 1/2 and --shard 2/2 into two folders and join them with "
        "`backlane campaign merge`.",
    ),
    "R006": (
        "this file is a campaign",
        "The scenario has a [sweep] section and describes more than one run; `backlane run` "
        "carries out exactly one.\n\n"
        "Use `backlane campaign run FILE`. To try a single point, take [sweep] out of the file "
        "and give the values with --set KEY=VALUE.",
    ),
    "R007": (
        "folder holds other results",
        "The folder already holds results of something else: of a campaign with another name, "
        "or of a campaign where a single run was asked for. They are not overwritten.\n\n"
        "Choose another folder with --out DIR or remove the old one.",
    ),
    "R008": (
        "not a results folder",
        "The folder holds no complete results: manifest.json is missing or unreadable. "
        "`backlane run` and `backlane campaign run` write it last. For a campaign that was "
        "stopped, start `backlane campaign run` again, with the same folder.",
    ),
    "R009": (
        "campaigns do not belong together",
        "Only parts of the same campaign can be merged: the same scenario (its hash) carried "
        "out by the same model version. Run the differing part again with this version, or "
        "report on the folders side by side: `backlane report DIR1 DIR2`.",
    ),
    "R010": (
        "result file is damaged",
        "A result file exists but cannot be read. It was changed after it was written, or "
        "the disk failed. Remove the file (for a campaign: the folder of that run below "
        "store/) and run again; only what is missing is computed.",
    ),
    "R011": (
        "file exists already",
        "`backlane init` does not overwrite a file. Give another name, or --force.",
    ),
    "R012": (
        "bad value for an option",
        "--set takes KEY=VALUE with a dotted key, for example --set access.ues=50 or "
        "--set routing.protocol=olsr. --shard takes i/n with 1 ≤ i ≤ n. All that stands on the "
        "command line, names of files included, is UTF-8.",
    ),
    "R013": (
        "compiled module is missing",
        "The package was installed without its compiled part, or for another Python or "
        "processor. Install it again with `pip install --force-reinstall backlane`; in a source "
        "tree, `maturin develop --release`. `backlane doctor` shows what was found.",
    ),
    "R014": (
        "unknown code or key",
        "`backlane explain` without a code lists all codes. A key is named by its path in the "
        "scenario file, such as routing.hello_interval.",
    ),
    "R015": (
        "unknown template",
        "`backlane init --list` lists the templates, and the examples and studies that --copy "
        "takes.",
    ),
    "R016": (
        "parts disagree",
        "Two folders hold the same run with different digests. The same scenario, seed and "
        "model version always give the same bytes, so one of the results was changed, or was "
        "computed by a build that was altered without a new version.",
    ),
    "R017": (
        "input or output failed",
        "The operating system reported an error while reading or writing.",
    ),
    "R018": (
        "out of memory",
        "The run needs more memory than there is. Use fewer --workers, record fewer series "
        "or take a longer record interval, or make the scenario smaller.",
    ),
    "R019": (
        "nothing to report",
        "The folder holds no finished run. `backlane campaign status DIR` shows the state.",
    ),
    "R020": (
        "Python class cannot be used",
        'The scenario names a congestion control, "python:FILE:CLASS", or a router, "FILE:CLASS", '
        "and the file is no Python, or the class does not derive from backlane.CongestionControl "
        "or backlane.Router, lacks a hook, or has one that takes other arguments, or the scenario "
        "sets a parameter that the class does not have. What the text of the file says is found by "
        "`backlane check` and every plan, which execute nothing. `backlane run` and `backlane "
        "campaign run` execute the file before the first run, and say the same when it raises, or "
        "when what it made cannot be used. It stands alone: what it imports must be installed.",
    ),
    "R021": (
        "unknown study or figure",
        "`backlane reproduce` takes the name of a study below studies/ (of the current folder or "
        "of the package) or the path of a folder with a study.toml, and after a slash the id "
        "of one of its figures.",
    ),
    "R022": (
        "study is wrong",
        "study.toml or claims.toml names a key, a rule, a metric or a cell that does not exist. "
        "The message names the claim or figure. Everything is checked before the first run, so "
        "that no hour is spent on a claim that cannot be judged.",
    ),
    "R023": (
        "runs of a study failed",
        "A run of an experiment ended with an error, so that its claims cannot be judged. "
        "`backlane campaign status DIR` lists the failures; runs that finished are kept.",
    ),
    "R024": (
        "no report over both",
        "A slotted model has neither bytes nor seconds, so that its results cannot stand beside "
        "those of a network. `backlane report` takes folders of one kind at a time.",
    ),
    "R025": (
        "Python of a stranger",
        "The scenario names a class in Python whose text stands in the scenario "
        "itself, under [[python]], or in a file outside of the folder of the scenario. Whoever "
        "sent the scenario may have written it, and it can do whatever you can.\n\n"
        "Read it. `--allow-python`, or allow_python=True in Python, executes it. What is stored "
        "with results, scenario.resolved.toml, brings the text of all Python that was in the run. "
        "Files in the folder of the scenario are executed without a question; `backlane check`, "
        "`--dry-run` and plans execute nothing.",
    ),
    "R026": (
        "more than the machine has",
        "By the estimate, the runs that would be carried out side by side take more memory than "
        "the machine, its control group or a limit of the shell (ulimit -v) leaves, or their "
        "results more than four times what the disk has free.\n\n"
        "Use fewer --workers; make the scenario smaller where the message says that most of it "
        "is. The estimate of memory is within a factor of two of what is measured, almost "
        "always; --ignore-memory starts the runs all the same.",
    ),
    "R027": (
        "written by a newer version",
        "The layout of results folders has changed since this version of Backlane. Use the "
        "version that wrote the folder, or another folder.",
    ),
    "R028": (
        "a package cannot be used",
        "Another package announces a metric, a form of figure or an importer by an entry point "
        "(backlane.metrics, backlane.figures, backlane.importers). Its name is taken, it cannot be "
        "imported, it is of another type, or it raised an error. The message names the package."
        "\n\n"
        "Upgrade or uninstall the package. If it raises an error in the middle of a study, the "
        "finished runs are kept and used by the next start.",
    ),
    "R029": (
        "value has no form in a scenario",
        "A scenario in a dict, or an override, holds a value that a file cannot hold, such "
        "as None, a date or an object, or a key that is no text. Texts, numbers, booleans, lists, "
        "tuples, dicts, paths and NumPy values can be written, and classes of congestion controls "
        "and routers. A key that shall have no value is left out.",
    ),
    "R030": (
        "there is no such figure",
        "`Results.figure` draws finish-time, rtt, goodput and fairness. Figures of many contenders "
        "are divided, and `part` says which one to draw. `backlane report` draws all figures, also "
        "those of slotted models.",
    ),
    "R031": (
        "budget is none",
        "`backlane recommend --budget` takes a number of runs or a CPU time above zero, such as "
        '"200 runs", "90 s", "30 min" or "2 h". Stored runs count with the time that they took, so '
        "that the same command ends at the same place when it is started again.",
    ),
    "R032": (
        "budget is too small",
        "A recommendation needs two seeds of each contender under each condition at least; ten are "
        "run before a contender is eliminated. `backlane plan FILE` estimates what they cost.",
    ),
    "R033": (
        "a run of the recommendation failed",
        "Contenders are compared by the same seeds, so that a run that fails ends the "
        "recommendation. Finished runs are kept. The message has the cause; "
        "`backlane campaign status DIR` shows it with the swept values.",
    ),
    "R034": (
        "there is nothing to choose from",
        "A recommendation compares two contenders or more: swept keys that a designer chooses, or "
        "those that `[compare] keys` names. It judges flows; slotted models have none.",
    ),
    "R035": (
        "value of an option cannot be read",
        'A time has a unit, such as "80 ms"; a share is a percentage above 0 % and below 100 %, '
        'such as "5 %".',
    ),
    "R036": (
        "table of upgrades cannot be used",
        "A table of upgrades is CSV with the columns `upgrade`, `link` and `cost`, and any of "
        "`rate`, `delay`, `queue` and `loss` with values as in a scenario. Rows of one name are "
        'one upgrade. A link is named "a-b" by two nodes of the network; one that is not there yet '
        "needs `rate` and `delay`.",
    ),
    "R040": (
        "format is not known",
        "`backlane import` recognises files by their content and not by their name; `backlane "
        "import --formats` lists what it reads. A table is recognised by its column names: "
        "id, latitude and longitude of sites, site_a and site_b of links. The message says what "
        "was found. A web page instead of the file is a common cause: download the raw file.",
    ),
    "R041": (
        "file to import is malformed",
        "The file is not what its format demands. The message names the line, or the path within "
        "the file (`nodes[3].id`), and what is expected there. Nothing has been written.",
    ),
    "R042": (
        "file to import is too large",
        "An import reads at most 64 MiB, packed and unpacked, 100 000 sites, 500 000 links, "
        "2 million rows, 500 000 elements, and 100 levels of nesting. Of a larger network, cut out "
        "the part under study.",
    ),
    "R043": (
        "file to import leads outside or expands",
        "An import follows no reference: XML that declares entities or names another file, and KML "
        "with a NetworkLink, are refused. Save everything into one plain file.",
    ),
    "R044": (
        "coordinates cannot be used",
        "Positions are degrees of WGS 84. The message says what is wrong: latitude and longitude "
        "exchanged (--swap), projected coordinates (--crs EPSG:CODE, --crs metres or feet), a "
        "value beyond its range, or no number. Exchanged axes are found by their range, by "
        "letters of hemispheres, and by lengths of links that fit only the other way round.",
    ),
    "R045": (
        "ids do not fit",
        "A site has no id, two have the same, or a link names a site that is not listed. The "
        "nearest id is named. --unknown drop leaves such links out, --unknown create adds the "
        "sites.",
    ),
    "R046": (
        "file holds no network",
        "There are no sites, or sites and no links. Links come from a second file, or are drawn by "
        "a rule if the user asks for it: --rule mst, mesh or gabriel. They are then marked as "
        "assumed.",
    ),
    "R047": (
        "value to import cannot be used",
        "A rate, length, delay, level or capacity is no number, has an unknown unit, or is out of "
        "range; or a value is missing and --no-assume forbids a default. Empty fields are values "
        "that are not known, and are no error.",
    ),
    "R048": (
        "network is in pieces",
        "A scenario is one network. --pieces join adds the shortest links between the pieces and "
        "names each with its length, --pieces largest keeps the largest piece and names the rest, "
        "--pieces refuse and --no-assume stop here.",
    ),
    "R049": (
        "package is missing",
        "Some functions need a package that Backlane does not bring: pandas for "
        "`Results.to_pandas`, and for imports xlrd for workbooks of "
        "old Excel (.xls), pyproj for projected coordinates, topohub for its collection. "
        "`pip install 'backlane[import]'` installs those of imports, "
        "`pip install 'backlane[pandas]'` pandas.",
    ),
    "R050": (
        "no path serves a flow",
        "`backlane bound` or `backlane optimum` found no path from the source of a flow to its "
        "destination, or none back for the acknowledgments of TCP: the network is in parts, or a "
        "radio reaches no other.\n\n"
        "Add a link, or take the flow away. `backlane check` warns of networks in parts.",
    ),
    "R051": (
        "no bound for this scenario",
        "The bounds are those of flows over a network of links: a slotted model, a scenario "
        "without flows, and an access technology of another program have none.",
    ),
    "R052": (
        "the bound could not be computed",
        "The linear program took longer than --time-limit, the solver ended without an optimum, "
        "or the package highspy is missing.\n\n"
        "--method approximate bounds the rate of the least flow to a proven gap, for networks of "
        "10 000 nodes and more.",
    ),
    "R055": (
        "no costs to choose",
        "`backlane weights` looks for costs of wires between routers. The scenario has less than "
        "two of them: costs make no difference to links of hosts and over radios.",
    ),
    "R056": (
        "optimum is on parallel links",
        "An explicit path names routers and takes the first of several links between two of them. "
        "`backlane optimum` would send traffic over another one of them.\n\n"
        "Make one link of them, with the sum of their rates.",
    ),
    "R060": (
        "no link budget",
        "A link lacks what its budget needs, or has a value that no link has. A budget needs the "
        "frequency, the bandwidth, a transmit power or EIRP, an antenna gain or diameter, and "
        "positions of both sites or a length; `backlane import --columns` lists the names of "
        "columns. The message names the link and the value.",
    ),
    "R061": (
        "radio does not fit",
        "A link names a radio that is not known, or its frequency or bandwidth is none of that "
        "radio. `backlane budget --radios` lists radios with their bands and channels; --radio "
        "generic takes a radio of any frequency and channel.",
    ),
    "R070": (
        "no capacities",
        "`backlane import --capacities` makes a trace of rates for each link with recorded levels. "
        "The radio is RADIO:MHZ, the window FROM:TO in seconds from the first level. The message "
        "says what is missing: levels, levels in the window, or a step of the radio that holds.",
    ),
    "R080": (
        "comparisons are not installed",
        "`backlane validate` runs comparisons with other programs that are part of the sources, "
        "not of a wheel. Clone the repository and run the command in its folder.",
    ),
    "R081": (
        "ns-3 is missing",
        "`backlane validate ns3 --record` compiles programs against ns-3 3.37 and runs them. On "
        "Debian, `apt-get install g++ libns3-dev`. Without --record the recorded results of ns-3 "
        "are compared, which needs neither.",
    ),
    "R082": (
        "scenario has no counterpart in ns-3",
        "`backlane export ns3` writes programs for wires with drop-tail queues, static routes or "
        'OLSR, and TCP transfers with profile = "ns3". The key named has no counterpart there, '
        "and a program without it would simulate something else.",
    ),
    "R083": (
        "program cannot be written",
        "A sweep has several cells, of which --cell chooses one; or a file of this name exists "
        "that `backlane export` did not write.",
    ),
    "R090": (
        "gymnasium is missing",
        "`backlane.gym` holds environments of the package gymnasium: "
        "`pip install 'backlane[gym]'`.",
    ),
    "R091": (
        "gym action out of range",
        "An action is an array of numbers from -1 to 1, one for each flow or link that the agent "
        "controls. Infinities and NaN are out of range. The message names the number. A policy "
        "whose outputs have no bounds needs np.clip(action, -1, 1) or np.tanh.",
    ),
    "R092": (
        "no episode to step",
        "reset() begins an episode; it ends when step() returns terminated or truncated, and with "
        "close(). An episode that failed or was interrupted by Ctrl-C is closed.",
    ),
    "R093": (
        "scenario does not fit the environment",
        "CongestionControl needs flows over TCP, and RoutingWeights the routing protocol "
        "shortest-path and two links between routers or more. Slotted models have no packets. The "
        "message says what is missing.",
    ),
    "R094": (
        "parameter of an environment out of range",
        "The message names the parameter of backlane.gym.CongestionControl or RoutingWeights, its "
        "value, and its range.",
    ),
    "R096": (
        "kernel is not built",
        'Flows with stack = "linux" run on Linux kernels in simulated time. The one that [linux] '
        "kernel names is built once and kept in the cache of the user, or in the folder that "
        "BACKLANE_KERNELS names:\n\n"
        "    apt-get install linux-source-6.1 flex bison bc gcc make xz-utils\n"
        "    backlane linux build 6.1\n\n"
        "A build belongs to a version of Backlane's configuration: after an upgrade it may have to "
        "be built again. `backlane linux list` shows what there is.",
    ),
    "R097": (
        "kernel cannot be built",
        "The message names the package that is missing, or has the end of what the compiler "
        "printed. `backlane linux build NAME --source TREE` takes a tree or an archive of sources "
        "in place of Debian's package.",
    ),
    "R103": (
        "Python class raised an error",
        "A hook of a congestion control or a router in Python raised, or returned what has no "
        "meaning there (a text, a fraction of a packet, a negative number, NaN, a node that is no "
        "neighbour). The run has ended without a result; the message has the simulated time and "
        "the traceback, and the node of a router. In a campaign the other "
        "runs go on, and the failed ones are tried again on the next start.",
    ),
    "R104": (
        "kernel of a host failed",
        "The Linux kernel of a host has ended, panicked, hung, or refused its work: an unknown "
        "congestion control, a setting that does not exist. The message has the host and the end "
        "of the kernel's console. Kernels run as processes of this machine, without rights, and "
        "need ptrace.",
    ),
    "R105": (
        "flows have their ends outside",
        'Flows with stack = "external" carry what programs of this machine send, on the wall '
        "clock. Run the scenario with `backlane emulate`.",
    ),
    "R110": (
        "no such executor",
        "--executor takes threads, dask, dask:ADDRESS (of a scheduler, such as "
        "tcp://host:8786 or tls://host:8786) or slurm, which needs the program sbatch.",
    ),
    "R111": (
        "worker of another version",
        "A worker has another version of the package, or was built from other sources of the "
        "models, so that its runs could differ. Install the same version everywhere.",
    ),
    "R112": (
        "worker without the campaign folder",
        "Workers write finished runs into the folder of the campaign, which must be on a file "
        "system that all of them have at the same path.",
    ),
    "R113": (
        "Dask does not go on",
        "The scheduler is not reached or went away, or the workers of a unit died again and again "
        "(out of memory, for example). Finished runs are stored: the same command goes on with "
        "the others.",
    ),
    "R114": (
        "job array without results",
        "sbatch refused the array, or jobs of it ended before their runs were stored. The logs "
        "are in the folder slurm of the campaign; the same command submits what is left.",
    ),
    "R115": (
        "file system without rename",
        "A finished run appears in the store by the renaming of its folder. This file system "
        "cannot do that; choose another with --out.",
    ),
    "R120": (
        "machine cannot emulate",
        "`backlane emulate` makes a network namespace with a TUN interface for each host. That "
        "takes Linux, the device /dev/net/tun, the program ip (iproute2), and the rights "
        "CAP_NET_ADMIN and CAP_SYS_ADMIN, which root has. The message says which of them is "
        "missing. In a container, give it the device and both rights: "
        "`--device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN`. Nothing was made.",
    ),
    "R121": (
        "scenario has no host to emulate",
        'The hosts of an emulation are the ends of the flows with stack = "external", whose '
        "packets come from programs outside. The scenario has no such flow.\n\n"
        'Give a TCP flow stack = "external" and size = "endless".',
    ),
    "R122": (
        "two hosts have one namespace",
        "The namespace of a host bears its name, in which letters other than A-Z, a-z, 0-9, "
        "underscore, dot and hyphen become hyphens. Two hosts of the scenario have the same name "
        "then.",
    ),
    "R123": (
        "system refuses a namespace or an interface",
        "A command that makes the namespace or the interface of a host has failed, or there is one "
        "of that name already. The message has the command and its answer. What the emulation had "
        "made is removed.",
    ),
    "R124": (
        "no such host is emulated",
        "`backlane emulate exec HOST` executes a command as a program of a host of an emulation "
        "that goes on. There is none with a host of this name, or several have one; --run RUN "
        "names the emulation, as it prints it at its start.",
    ),
}


class BacklaneError(Exception):
    """A problem with files, folders or results that the user can fix.

    Args:
        code: a key of `CODES`.
        message: what happened, one line.
        place: the file or folder, with line and column when known.
        mend: what to do, one line.
    """

    def __init__(
        self, code: str, message: str, place: str | Path | None = None, mend: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = None if place is None else str(place)
        self.mend = mend

    @property
    def rendered(self) -> str:
        """The text for a terminal, without colour."""
        lines = [f"error[{self.code}]: {self.message}"]
        if self.place is not None:
            lines.append(f"  --> {self.place}")
        if self.mend is not None:
            lines.append(f"   = {self.mend}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The same for ``--json``."""
        return {
            "code": self.code,
            "severity": "error",
            "message": self.message,
            "file": self.place,
            "help": self.mend,
        }


def write_error(error: OSError, path: str | Path) -> BacklaneError:
    """The coded error for an `OSError` during writing."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BacklaneError(
            "R002",
            f"disk full: {reason}",
            path,
            "free some space and start again (finished runs are kept), or use --out DIR",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
        return BacklaneError(
            "R001",
            f"cannot write: {reason}",
            path,
            "choose another folder with --out DIR, or change its permissions",
        )
    return BacklaneError("R017", f"cannot write: {reason}", path, "see `backlane doctor`")


def read_error(error: OSError, path: str | Path) -> BacklaneError:
    """The coded error for an `OSError` during reading."""
    reason = error.strerror or str(error)
    mend = "check the name and the permissions"
    if isinstance(error, FileNotFoundError):
        from backlane import shipped

        if unit := shipped.unit_of(Path(path).as_posix()):
            mend = f"`backlane init --copy {unit}` writes it here"
    return BacklaneError("R003", f"cannot read: {reason}", path, mend)


def explain(code: str) -> str | None:
    """The long text of an ``R`` code, or None when there is no such code."""
    entry = CODES.get(code.upper())
    return None if entry is None else f"{code.upper()}: {entry[0]}\n\n{entry[1]}"
