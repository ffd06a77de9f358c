//! Which blocks of out-of-order data an acknowledgment reports: those that changed last.
//!
//! RFC 2018 §4 as Linux keeps it (`tcp_sack_new_ofo_skb`): a list of four, newest first. A
//! block that fell off the list is not looked up again, so that data next to it is reported
//! alone.

use crate::segment::{SackBlock, SackBlocks};

#[derive(Clone, Debug, Default)]
pub(crate) struct SackList {
    blocks: [SackBlock; SackBlocks::CAPACITY],
    count: usize,
}

fn touch(a: &SackBlock, b: &SackBlock) -> bool {
    a.start <= b.end && b.start <= a.end
}

impl SackList {
    pub(crate) fn blocks(&self) -> &[SackBlock] {
        &self.blocks[..self.count]
    }

    /// Where `block` will be found or lost in the list; its length when it is a new one.
    pub(crate) fn position(&self, block: &SackBlock) -> usize {
        let known = self.blocks().iter().position(|known| touch(known, block));
        known.unwrap_or(self.count)
    }

    /// Data arrived: its block, grown by what it touches, goes to the front.
    pub(crate) fn push(&mut self, block: SackBlock) {
        let at = self.position(&block);
        let mut front = block;
        if at < self.count {
            front.start = front.start.min(self.blocks[at].start);
            front.end = front.end.max(self.blocks[at].end);
        }
        let mut blocks = [SackBlock::default(); SackBlocks::CAPACITY];
        let mut count = 1;
        for (i, old) in self.blocks[..self.count].iter().enumerate() {
            if i == at {
                continue;
            }
            if at < self.count && touch(&front, old) {
                front.start = front.start.min(old.start);
                front.end = front.end.max(old.end);
            } else if count < blocks.len() {
                blocks[count] = *old;
                count += 1;
            }
        }
        blocks[0] = front;
        self.blocks = blocks;
        self.count = count;
    }

    /// Everything up to `rcv_nxt` is in order now.
    pub(crate) fn forget_up_to(&mut self, rcv_nxt: u64) {
        let mut kept = 0;
        for i in 0..self.count {
            if self.blocks[i].start > rcv_nxt {
                self.blocks[kept] = self.blocks[i];
                kept += 1;
            }
        }
        self.count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(starts: &[u64]) -> SackList {
        let mut list = SackList::default();
        for &start in starts {
            let end = start + 100;
            list.push(SackBlock { start, end });
        }
        list
    }

    fn print(list: &SackList) -> Vec<(u64, u64)> {
        list.blocks().iter().map(|b| (b.start, b.end)).collect()
    }

    #[test]
    fn the_fifth_block_pushes_out_the_oldest() {
        let list = list(&[100, 300, 500, 700, 900]);
        let blocks = [(900, 1000), (700, 800), (500, 600), (300, 400)];
        assert_eq!(print(&list), blocks);
    }

    #[test]
    fn a_block_that_fills_a_gap_swallows_both_neighbours() {
        let list = list(&[100, 500, 300, 200]);
        assert_eq!(print(&list), [(100, 400), (500, 600)]);
    }

    #[test]
    fn a_block_that_was_pushed_out_is_not_looked_up_again() {
        let list = list(&[100, 300, 500, 700, 900, 200]);
        assert_eq!(print(&list)[0], (200, 400));
        assert_eq!(print(&list).len(), 4);
    }

    #[test]
    fn what_is_in_order_is_no_longer_reported() {
        let mut list = list(&[100, 300, 500]);
        list.forget_up_to(400);
        assert_eq!(print(&list), [(500, 600)]);
    }
}
