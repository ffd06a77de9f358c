//! The selection of multipoint relays: the heuristic of RFC 3626 §8.3.1.
//!
//! The RFC runs the heuristic for each interface, joins the results, and permits the removal of
//! redundant relays (step 5). On point-to-point wires every interface has one neighbour. The joined
//! set would be all neighbours with 2-hop neighbours, and the removal alone would decide. Since a
//! broadcast goes out on all wires, they are taken here as one interface: steps 1 to 4 over all
//! neighbours, then step 5. With equal willingness that is one of the minimal covers that the RFC's
//! removal can end with.

use std::collections::BTreeMap;

use backlane_net::NodeId;

use super::message::WILL_ALWAYS;

/// A symmetric neighbour that is willing to relay.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) node: NodeId,
    pub(super) willingness: u8,
    /// Strict 2-hop neighbours that it reaches, each once: neither this node nor a symmetric
    /// neighbour of it. Their number is the RFC's D(y).
    pub(super) reaches: Vec<NodeId>,
}

/// The relays, in the order of their numbers. Together they reach every node that the candidates
/// reach.
pub(super) fn select(candidates: &[Candidate]) -> Vec<NodeId> {
    let mut providers: BTreeMap<NodeId, u32> = BTreeMap::new();
    for node in candidates.iter().flat_map(|c| &c.reaches) {
        *providers.entry(*node).or_default() += 1;
    }
    // How many relays reach each strict 2-hop neighbour.
    let mut covered: BTreeMap<NodeId, u32> = providers.keys().map(|&node| (node, 0)).collect();
    let mut chosen = vec![false; candidates.len()];
    let mut choose = |index: usize, covered: &mut BTreeMap<NodeId, u32>| {
        let candidate: &Candidate = &candidates[index];
        chosen[index] = true;
        for node in &candidate.reaches {
            *covered.entry(*node).or_default() += 1;
        }
    };

    for (index, candidate) in candidates.iter().enumerate() {
        let only = |node| providers.get(node) == Some(&1);
        if candidate.willingness >= WILL_ALWAYS || candidate.reaches.iter().any(only) {
            choose(index, &mut covered);
        }
    }
    loop {
        let best = candidates.iter().enumerate().filter_map(|(index, c)| {
            let open = |node: &&NodeId| covered.get(node) == Some(&0);
            let reachability = c.reaches.iter().filter(open).count();
            let preference = (c.willingness, reachability, c.reaches.len());
            // The RFC does not specify the last tie-break: the lowest address.
            (reachability > 0).then_some((preference, std::cmp::Reverse(c.node), index))
        });
        match best.max() {
            Some((_, _, index)) => choose(index, &mut covered),
            None => break,
        }
    }

    let mut order: Vec<usize> = (0..candidates.len()).filter(|&i| chosen[i]).collect();
    order.sort_by_key(|&index| {
        let c = &candidates[index];
        (c.willingness, c.reaches.len(), std::cmp::Reverse(c.node))
    });
    for index in order {
        let candidate = &candidates[index];
        let spare = |node| covered.get(node).is_some_and(|&count| count > 1);
        if candidate.willingness < WILL_ALWAYS && candidate.reaches.iter().all(spare) {
            chosen[index] = false;
            for node in &candidate.reaches {
                covered.entry(*node).and_modify(|count| *count -= 1);
            }
        }
    }

    let mut relays: Vec<NodeId> = candidates
        .iter()
        .zip(chosen)
        .filter_map(|(candidate, chosen)| chosen.then_some(candidate.node))
        .collect();
    relays.sort_unstable();
    relays
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn candidate(node: u32, willingness: u8, reaches: &[u32]) -> Candidate {
        Candidate {
            node: NodeId(node),
            willingness,
            reaches: reaches.iter().copied().map(NodeId).collect(),
        }
    }

    fn relays(candidates: &[Candidate]) -> Vec<u32> {
        select(candidates).iter().map(|node| node.0).collect()
    }

    #[test]
    fn a_sole_provider_relays_and_makes_others_redundant() {
        let all = [
            candidate(1, 3, &[10, 11]),
            candidate(2, 3, &[11]),
            candidate(3, 3, &[]),
        ];
        assert_eq!(relays(&all), [1]);
    }

    #[test]
    fn of_two_that_reach_the_same_the_lower_address_relays() {
        assert_eq!(
            relays(&[candidate(5, 3, &[10]), candidate(4, 3, &[10])]),
            [4]
        );
    }

    #[test]
    fn the_one_that_reaches_more_relays() {
        let all = [
            candidate(1, 3, &[10, 11]),
            candidate(2, 3, &[10, 11, 12]),
            candidate(3, 3, &[12]),
        ];
        assert_eq!(relays(&all), [2]);
    }

    #[test]
    fn willingness_precedes_reach() {
        let all = [
            candidate(1, 6, &[10]),
            candidate(2, 3, &[10, 11]),
            candidate(3, 6, &[11]),
        ];
        assert_eq!(relays(&all), [1, 3]);
    }

    #[test]
    fn a_node_of_maximum_willingness_always_relays() {
        let all = [candidate(1, WILL_ALWAYS, &[]), candidate(2, 3, &[10])];
        assert_eq!(relays(&all), [1, 2]);
    }

    /// 10 and 13 each have one more provider than the greedy step needs; 2 was taken first for
    /// its three and is redundant once 1 and 3 are in.
    #[test]
    fn a_relay_that_became_redundant_is_dropped() {
        let all = [
            candidate(1, 3, &[10, 11, 20]),
            candidate(2, 3, &[11, 12, 30]),
            candidate(3, 3, &[12, 13, 40]),
            candidate(4, 3, &[20, 30]),
            candidate(5, 3, &[30, 40, 41]),
        ];
        // 10: 1 alone; 13: 3 alone; 41: 5 alone; these three reach everything.
        assert_eq!(relays(&all), [1, 3, 5]);
    }

    proptest! {
        #[test]
        fn relays_reach_everything_and_none_is_redundant(
            reaches in prop::collection::vec((0u8..7, prop::collection::btree_set(100u32..120, 0..8)), 0..12)
        ) {
            let candidates: Vec<_> = reaches
                .iter()
                .enumerate()
                .map(|(i, (w, set))| candidate(i as u32, *w, &set.iter().copied().collect::<Vec<_>>()))
                .collect();
            let reach = |relays: &[u32]| -> BTreeSet<u32> {
                relays.iter().flat_map(|&relay| reaches[relay as usize].1.iter().copied()).collect()
            };
            let relays = relays(&candidates);
            let all: Vec<u32> = (0..reaches.len() as u32).collect();
            prop_assert_eq!(reach(&relays), reach(&all));
            for relay in &relays {
                let others: Vec<u32> = relays.iter().copied().filter(|r| r != relay).collect();
                prop_assert_ne!(reach(&others), reach(&all), "{} is redundant", relay);
            }
        }
    }
}
