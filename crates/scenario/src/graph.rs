//! The topology section of the normal form: a line for each node and each link, printed without a
//! tree of all of them.

use std::rc::Rc;

use backlane_param::{Value as Plain, Values};
use backlane_units::Rate;

use crate::catalogue::Catalogue;
use crate::diagnostic::Span;
use crate::model::{Link, Medium, NodeKind, QueueConfig, QueueDiscipline, Scenario};
use crate::normal;
use crate::phrases::Limit;
use crate::plain;
use crate::print::{self, Style};
use crate::problems::Problems;
use crate::spec::tables;
use crate::topology::{Network, Placed, capacities, impaired};
use crate::tree::{Entry, Item, Table, Value};
use crate::wifi;

/// The lines of a topology section in both styles.
pub(crate) struct Graph {
    marked: String,
    bare: String,
}

impl Graph {
    /// Prints the nodes and links; on an interrupt, part of them.
    pub(crate) fn new(network: &Network, scenario: &Scenario, problems: &mut Problems) -> Self {
        let head = "kind = \"graph\"\nnode = [\n".to_owned();
        let mut graph = Self {
            marked: head.clone(),
            bare: head,
        };
        for placed in &network.nodes {
            if !problems.go_on() {
                break;
            }
            graph.push_line(&node(placed));
        }
        if !scenario.links.is_empty() {
            graph.push("]\nlink = [\n");
        }
        let catalogue = problems.catalogue;
        for own in &scenario.links {
            if !problems.go_on() {
                break;
            }
            graph.push_line(&link(own, network, catalogue));
        }
        graph.push(if scenario.links.is_empty() {
            "]\nlink = []\n"
        } else {
            "]\n"
        });
        graph
    }

    /// The lines in a style.
    pub(crate) fn lines(&self, style: Style) -> &str {
        match style {
            Style::Marked => &self.marked,
            Style::Bare => &self.bare,
        }
    }

    fn push(&mut self, text: &str) {
        self.marked.push_str(text);
        self.bare.push_str(text);
    }

    fn push_line(&mut self, row: &Table) {
        print::push_line(&mut self.marked, row, Style::Marked);
        print::push_line(&mut self.bare, row, Style::Bare);
    }
}

/// The graph of the last network that was printed.
#[derive(Default)]
pub(crate) struct Graphs(Option<(Rc<Network>, Rc<Graph>)>);

impl Graphs {
    /// The graph of a network with the links of a scenario.
    pub(crate) fn of(
        &mut self,
        network: &Rc<Network>,
        scenario: &Scenario,
        problems: &mut Problems,
    ) -> Rc<Graph> {
        if let Some((known, graph)) = &self.0
            && Rc::ptr_eq(known, network)
        {
            return graph.clone();
        }
        let graph = Rc::new(Graph::new(network, scenario, problems));
        self.0 = Some((network.clone(), graph.clone()));
        graph
    }
}

fn push(row: &mut Table, key: &str, value: Value, is_default: bool) {
    let span = Span::default();
    row.entries.push(Entry {
        key: key.to_owned(),
        key_span: span,
        item: Item { value, span },
        is_default,
    });
}

/// The line of a node.
fn node(node: &Placed) -> Table {
    let mut row = Table::default();
    push(&mut row, "id", Value::Text(node.id.clone()), false);
    let kind = Value::Text(node.kind.name().to_owned());
    push(&mut row, "kind", kind, node.kind == NodeKind::Enodeb);
    if let Some((x, y)) = node.position {
        push(&mut row, "x", Value::Text(x.to_string()), false);
        push(&mut row, "y", Value::Text(y.to_string()), false);
    }
    if let Some((latitude, longitude)) = node.geographic_deg {
        push(&mut row, "latitude", Value::Number(latitude), false);
        push(&mut row, "longitude", Value::Number(longitude), false);
    }
    if let Some(channels) = &node.channels {
        push(&mut row, "channels", wifi::channels_value(channels), false);
    }
    if let Some(radios) = node.radios {
        push(&mut row, "radios", Value::Integer(i64::from(radios)), false);
    }
    row
}

/// The line of a link.
fn link(link: &Link, network: &Network, catalogue: Catalogue) -> Table {
    let mut row = Table::default();
    let id = |node: usize| Value::Text(network.nodes[node].id.clone());
    push(&mut row, "a", id(link.a), false);
    push(&mut row, "b", id(link.b), false);
    match &link.medium {
        Medium::Wire(wire) => {
            push(&mut row, "rate", Value::Text(wire.rate.to_string()), false);
            push(
                &mut row,
                "delay",
                Value::Text(wire.delay.to_string()),
                false,
            );
            push(&mut row, "queue", queue(&wire.queue, catalogue), false);
            let [there, back] = wire.loss;
            push(&mut row, "loss", Value::Number(there), there == 0.0);
            if back != there {
                push(&mut row, "loss_back", Value::Number(back), false);
            }
            for (key, value) in wire.capacity.iter().flat_map(|both| capacities::keys(both)) {
                push(&mut row, key, value, false);
            }
            for (key, value) in wire
                .impairments
                .iter()
                .flat_map(|both| impaired::keys(both))
            {
                push(&mut row, key, value, false);
            }
        }
        Medium::Wifi(radio) => {
            for (key, value) in wifi::link_keys(radio) {
                push(&mut row, key, value, false);
            }
        }
    }
    for (key, rate) in flow_rates(link.flow_rates_bps) {
        push(&mut row, key, Value::Text(rate), false);
    }
    row
}

/// The flow rates of a link, the one back only where it is another one.
fn flow_rates(rates_bps: Option<[u64; 2]>) -> Vec<(&'static str, String)> {
    let Some([there, back]) = rates_bps else {
        return Vec::new();
    };
    let text = |bps| match bps {
        0 => "none".to_owned(),
        bps => Rate::from_bps(bps).to_string(),
    };
    let mut keys = vec![("flow_rate", text(there))];
    if back != there {
        keys.push(("flow_rate_back", text(back)));
    }
    keys
}

/// The queue of a link, as its limit alone where it is drop-tail.
fn queue(queue: &QueueConfig, catalogue: Catalogue) -> Value {
    let limit = Limit::from(queue.limit).to_string();
    let values = match &queue.discipline {
        QueueDiscipline::DropTail { mark_above: None } if !queue.routing_first => {
            return Value::Text(limit);
        }
        QueueDiscipline::DropTail { mark_above } => {
            let mut values = Values::default();
            values.set("discipline", Plain::Text("drop-tail".to_owned()));
            values.set("limit", Plain::Text(limit));
            if let Some(threshold) = mark_above {
                let threshold = Limit::from(*threshold).to_string();
                values.set("mark_above", Plain::Text(threshold));
            }
            if queue.routing_first {
                values.set("routing_first", Plain::Boolean(true));
            }
            values
        }
        QueueDiscipline::Declared(discipline) => {
            let mut values = discipline.values.clone();
            values.set("limit", Plain::Text(limit));
            values
        }
    };
    let mut value = plain::placed(Plain::Table(values));
    let declared = catalogue.of(&tables::QUEUE);
    if let (Value::Table(table), QueueDiscipline::Declared(discipline)) =
        (&mut value, &queue.discipline)
        && let Some(variant) = declared.variant(&discipline.name)
    {
        for entry in &mut table.entries {
            let mut keys = variant.keys.iter();
            let key = keys.find(|key| key.name == entry.key).or_else(|| {
                let mut common = declared.keys.iter();
                common.find(|key| key.name == entry.key && key.name != "limit")
            });
            entry.is_default = key.is_some_and(|key| normal::is_default_of(key, &entry.item.value));
        }
    }
    value
}
