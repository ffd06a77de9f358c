//! What the program in a kernel is asked to do, as lines of text; `guest/agent.c` reads them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::Ipv4Addr;

use backlane_traffic::SERVER_PORT;

/// The date at which the calendar of all kernels begins, in nanoseconds since 1970.
pub const EPOCH_NS: u64 = 1_000_000_000_000_000_000;

/// A transfer over TCP that a kernel sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The number of the flow.
    pub flow: u32,
    /// Its source port.
    pub from_port: u16,
    /// Address and port of its destination.
    pub to: (u32, u16),
    /// The congestion control, as the kernel names it.
    pub congestion_control: String,
    /// Bytes; `None` is endless.
    pub size_bytes: Option<u64>,
    /// When it starts, on the calendar.
    pub start_ns: u64,
    /// When it closes, on the calendar.
    pub stop_ns: Option<u64>,
    /// First report of its state on the calendar, and the interval between two.
    pub reports_ns: Option<(u64, u64)>,
}

/// The work of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The address of its host.
    pub address: u32,
    /// Settings, by the path below `/proc/sys`.
    pub sysctl: Vec<(String, String)>,
    /// The congestion controls of the transfers that it takes on [`SERVER_PORT`]. If they are one, its
    /// ends of the connections have it too: DCTCP negotiates its marks only with another DCTCP.
    pub listen: BTreeSet<String>,
    /// What it sends.
    pub transfers: Vec<Transfer>,
    /// Programs with their arguments, and when they start on the calendar.
    pub programs: Vec<(u64, Vec<String>)>,
}

impl Job {
    /// The lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (path, value) in &self.sysctl {
            let _ = writeln!(text, "sysctl {path} {value}");
        }
        let _ = writeln!(text, "address {}", Ipv4Addr::from(self.address));
        if let Some(control) = self.listen.first() {
            let control = match self.listen.len() {
                1 => control,
                _ => "-",
            };
            let _ = writeln!(text, "listen {SERVER_PORT} {control}");
        }
        for transfer in &self.transfers {
            let (to, port) = transfer.to;
            let (first_ns, every_ns) = transfer.reports_ns.unwrap_or((0, 0));
            let _ = writeln!(
                text,
                "send {} {} {} {port} {} {} {} {} {} {every_ns}",
                transfer.flow,
                transfer.from_port,
                Ipv4Addr::from(to),
                transfer.congestion_control,
                transfer.size_bytes.unwrap_or(0),
                EPOCH_NS + transfer.start_ns,
                transfer.stop_ns.map_or(0, |stop| EPOCH_NS + stop),
                EPOCH_NS + first_ns,
            );
        }
        for (start_ns, words) in &self.programs {
            let _ = writeln!(text, "exec {}\t{}", EPOCH_NS + start_ns, words.join("\t"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_one_line_for_each_task() {
        let job = Job {
            address: 0x0a00_0002,
            sysctl: vec![("net/ipv4/tcp_sack".into(), "0".into())],
            listen: BTreeSet::from(["bbr".to_owned()]),
            transfers: vec![Transfer {
                flow: 3,
                from_port: 49_155,
                to: (0x0a00_0001, 5001),
                congestion_control: "bbr".into(),
                size_bytes: Some(1_000_000),
                start_ns: 2_000_000_000,
                stop_ns: None,
                reports_ns: Some((2_010_000_000, 10_000_000)),
            }],
            programs: vec![(1, vec!["/program-0".into(), "-s".into()])],
        };
        assert_eq!(
            job.text(),
            "sysctl net/ipv4/tcp_sack 0\naddress 10.0.0.2\nlisten 5001 bbr\nsend 3 49155 10.0.0.1 5001 \
             bbr 1000000 1000000002000000000 0 1000000002010000000 10000000\nexec \
             1000000000000000001\t/program-0\t-s\n"
        );
    }
}
