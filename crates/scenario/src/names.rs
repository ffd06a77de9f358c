//! The names that other sections of a file use for nodes, UEs and links.

use std::collections::BTreeMap;

use crate::model::NodeKind;
use crate::shown::short;
use crate::spec::nearest;
use crate::topology::{Network, is_ue_name};

/// The nodes that flows and UEs refer to.
pub(crate) struct Names<'a> {
    pub(crate) network: &'a Network,
    pub(crate) ids: BTreeMap<&'a str, usize>,
    /// Number of UEs.
    pub(crate) ues: usize,
}

impl Names<'_> {
    /// The indices of all nodes of a kind.
    pub(crate) fn of_kind(&self, kind: NodeKind) -> Vec<usize> {
        (0..self.network.nodes.len())
            .filter(|i| self.network.nodes[*i].kind == kind)
            .collect()
    }

    /// The links by their names "a-b" and "b-a"; of parallel ones, the first.
    pub(crate) fn ways(&self) -> BTreeMap<String, usize> {
        let id = |index: usize| self.network.nodes[index].id.as_str();
        let mut ways = BTreeMap::new();
        for (index, (link, _)) in self.network.links.iter().enumerate() {
            let (a, b) = (id(link.a), id(link.b));
            ways.entry(format!("{a}-{b}")).or_insert(index);
            ways.entry(format!("{b}-{a}")).or_insert(index);
        }
        ways
    }

    /// What to say of a link that is not among `ways`: a message and a label.
    pub(crate) fn no_link(name: &str, ways: &BTreeMap<String, usize>) -> (String, String) {
        let label = match nearest(name, ways.keys().map(String::as_str)) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => "name a link as \"a-b\"".to_owned(),
        };
        (format!("there is no link \"{}\"", short(name)), label)
    }

    /// "did you mean …" for an unknown name.
    pub(crate) fn suggestion(&self, name: &str) -> String {
        let words = ["server", "ues"];
        match nearest(name, self.ids.keys().copied().chain(words)) {
            Some(nearest) => format!("did you mean \"{nearest}\"?"),
            None => "name a node of the network".to_owned(),
        }
    }
}

/// The index of the UE called `name`, if there is one.
pub(crate) fn ue_index(name: &str, ues: usize) -> Option<usize> {
    if name == "ues" || !is_ue_name(name) {
        return None;
    }
    let number: usize = name.strip_prefix("ue")?.parse().ok()?;
    ((1..=ues).contains(&number) && !name.starts_with("ue0")).then(|| number - 1)
}
