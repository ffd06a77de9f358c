//! Entries in the order of their numbers: a calendar queue (Brown, "Calendar queues", Communications
//! of the ACM 31(10), 1988) with a sorted present day.
//!
//! Time is divided into days. The entries of the present day are sorted; those of the next
//! [`DAYS`] days lie unsorted in pages, a list of pages for each day; all later ones are in a heap.
//! The length of a day follows the rate of the entries, so that a day holds a few of them. Pages are
//! reused last in, first out, so that a small calendar stays in the first-level cache.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::prefetch::prefetch;

/// Time in picoseconds above, order word below: one number whose order is the order of events.
pub(crate) type Entry = u128;

/// Days after the present one; a power of two.
const DAYS: usize = 2048;
const WORDS: usize = DAYS / 64;
/// Binary logarithms of the entries that a day should hold: few, so that an entry finds its place in
/// a day at once, or many, so that the coming ones are known.
const SHORT_DAY_LOG2: u32 = 1;
const LONG_DAY_LOG2: u32 = 10;
/// Entries of a page.
const PAGE: usize = 3;
/// No page.
const NONE: u32 = u32::MAX;
/// Entries taken between two looks at the length of a day.
const REVIEW: u32 = 8192;
/// Compared with the last entries of the present day before a binary search: most new entries of
/// the day are due soon.
const SOON: usize = 8;

/// Entries of one day: a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Page {
    /// The next page of the day, or of the free pages.
    next: u32,
    used: u32,
    entries: [Entry; PAGE],
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Page>() == 64);

pub(crate) struct Calendar {
    /// The entries up to the end of the present day, the next one last.
    today: Vec<Entry>,
    /// The number of the present day; a day has `1 << shift` picoseconds.
    day: u64,
    shift: u32,
    /// The first page of each day, by its number modulo [`DAYS`].
    heads: Box<[u32; DAYS]>,
    /// Bits of the days that have pages, and of the words that have bits.
    taken: [u64; WORDS],
    words: u32,
    pages: Vec<Page>,
    free: u32,
    /// The page of the coming day that [`Calendar::prefetch_page`] loads next.
    coming_page: u32,
    far: BinaryHeap<Reverse<Entry>>,
    /// The first day in `far`; [`u64::MAX`] if there is none.
    far_day: u64,
    /// Entries taken since the last review, and the time of it in picoseconds.
    taken_since: u32,
    reviewed_at: u64,
    /// Binary logarithm of the entries that a day should hold.
    day_entries_log2: u32,
}

#[inline]
fn time_ps(entry: Entry) -> u64 {
    (entry >> 64) as u64
}

impl Calendar {
    pub(crate) fn new() -> Self {
        Self {
            today: Vec::new(),
            day: 0,
            shift: 24,
            heads: Box::new([NONE; DAYS]),
            taken: [0; WORDS],
            words: 0,
            pages: Vec::new(),
            free: NONE,
            coming_page: NONE,
            far: BinaryHeap::new(),
            far_day: u64::MAX,
            taken_since: 0,
            reviewed_at: 0,
            day_entries_log2: SHORT_DAY_LOG2,
        }
    }

    /// From the next review on, days are long.
    pub(crate) fn lengthen_days(&mut self) {
        self.day_entries_log2 = LONG_DAY_LOG2;
    }

    /// The least entry.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<Entry> {
        if self.today.is_empty() && !self.open_next_day() {
            return None;
        }
        self.today.last().copied()
    }

    /// Prefetches a page of the coming day, one through the one before; called once for each entry
    /// that is taken, it loads them all in time.
    #[inline]
    pub(crate) fn prefetch_page(&mut self) {
        if let Some(page) = self.pages.get(self.coming_page as usize) {
            self.coming_page = page.next;
            if let Some(next) = self.pages.get(page.next as usize) {
                prefetch(next);
            }
        }
    }

    /// The entry after `others` others, if it lies in the present day.
    #[inline]
    pub(crate) fn coming(&self, others: usize) -> Option<Entry> {
        let at = self.today.len().checked_sub(others + 1)?;
        Some(self.today[at])
    }

    /// Takes the least entry, which [`Calendar::first`] has returned.
    #[inline]
    pub(crate) fn remove_first(&mut self) {
        let entry = self.today.pop();
        self.taken_since += 1;
        if self.taken_since == REVIEW {
            self.review(entry.map_or(0, time_ps));
        }
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn insert(&mut self, entry: Entry) {
        let day = time_ps(entry) >> self.shift;
        let ahead = day.wrapping_sub(self.day);
        if day <= self.day {
            self.insert_today(entry);
        } else if ahead < DAYS as u64 {
            self.insert_at(day as usize % DAYS, entry);
        } else {
            self.far_day = self.far_day.min(day);
            self.far.push(Reverse(entry));
        }
    }

    /// Removes an entry; all of its day are looked at.
    #[cold]
    pub(crate) fn remove(&mut self, entry: Entry) {
        let day = time_ps(entry) >> self.shift;
        if day <= self.day {
            self.today.retain(|&other| other != entry);
        } else if day - self.day < DAYS as u64 {
            let place = day as usize % DAYS;
            let sorted = self.today.len();
            self.take_day(place);
            for other in self.today.split_off(sorted) {
                if other != entry {
                    self.insert_at(place, other);
                }
            }
        } else {
            self.far.retain(|&Reverse(other)| other != entry);
        }
    }

    #[inline]
    fn insert_today(&mut self, entry: Entry) {
        let later = self.today.len().saturating_sub(SOON);
        let soon = &self.today[later..];
        let at = match soon.iter().rposition(|&other| other > entry) {
            Some(at) => later + at + 1,
            None => self.today[..later].partition_point(|&other| other > entry),
        };
        self.today.insert(at, entry);
    }

    #[inline]
    fn insert_at(&mut self, place: usize, entry: Entry) {
        let head = self.heads[place];
        if let Some(page) = self.pages.get_mut(head as usize)
            && let Some(free) = page.entries.get_mut(page.used as usize)
        {
            *free = entry;
            page.used += 1;
            return;
        }
        let index = self.free;
        if let Some(page) = self.pages.get_mut(index as usize) {
            self.free = page.next;
            (page.next, page.used, page.entries[0]) = (head, 1, entry);
            self.heads[place] = index;
        } else {
            self.heads[place] = self.pages.len() as u32;
            self.pages.push(Page {
                next: head,
                used: 1,
                entries: [entry; PAGE],
            });
        }
        self.taken[place / 64] |= 1 << (place % 64);
        self.words |= 1 << (place / 64);
    }

    /// Moves the entries of a day to the present one, unsorted.
    #[inline]
    fn take_day(&mut self, place: usize) {
        let mut index = std::mem::replace(&mut self.heads[place], NONE);
        while let Some(page) = self.pages.get_mut(index as usize) {
            let used = page.entries.iter().take(page.used as usize);
            self.today.extend(used);
            let next = std::mem::replace(&mut page.next, self.free);
            self.free = index;
            index = next;
        }
        self.taken[place / 64] &= !(1 << (place % 64));
        if self.taken[place / 64] == 0 {
            self.words &= !(1 << (place / 64));
        }
    }

    /// The next day that has entries becomes the present one. False if there is none.
    #[inline]
    fn open_next_day(&mut self) -> bool {
        match self.next_place() {
            Some(place) => {
                self.day += 1 + (place.wrapping_sub(self.day as usize + 1) % DAYS) as u64;
                self.take_day(place);
            }
            None if self.far_day == u64::MAX => return false,
            None => self.day = self.far_day,
        }
        if self.far_day.wrapping_sub(self.day) < DAYS as u64 {
            self.take_far();
        }
        if self.day_entries_log2 == LONG_DAY_LOG2 {
            self.coming_page = self.next_place().map_or(NONE, |place| self.heads[place]);
        }
        if self.today.len() > 1 {
            self.today.sort_unstable_by(|a, b| b.cmp(a));
        }
        true
    }

    /// The place of the first day after the present one that has pages.
    #[inline]
    fn next_place(&self) -> Option<usize> {
        let from = (self.day as usize + 1) % DAYS;
        let here = self.taken[from / 64] & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(from / 64 * 64 + here.trailing_zeros() as usize);
        }
        // Later words, and then those from the start on, which are more than half a turn away.
        let later = self.words & u32::MAX.checked_shl(from as u32 / 64 + 1).unwrap_or(0);
        let words = if later == 0 { self.words } else { later };
        let word = (words != 0).then(|| words.trailing_zeros() as usize)?;
        Some(word * 64 + self.taken[word].trailing_zeros() as usize)
    }

    /// Moves the entries of the days that have come within reach out of the heap; those of the
    /// present day unsorted.
    #[cold]
    fn take_far(&mut self) {
        self.far_day = u64::MAX;
        while let Some(&Reverse(entry)) = self.far.peek() {
            let day = time_ps(entry) >> self.shift;
            if day > self.day && day - self.day >= DAYS as u64 {
                self.far_day = day;
                return;
            }
            self.far.pop();
            if day <= self.day {
                self.today.push(entry);
            } else {
                self.insert_at(day as usize % DAYS, entry);
            }
        }
    }

    /// Adapts the length of a day to the rate of the last entries.
    #[cold]
    fn review(&mut self, now_ps: u64) {
        let gap_ps = (now_ps - self.reviewed_at) / u64::from(REVIEW);
        self.taken_since = 0;
        self.reviewed_at = now_ps;
        let shift = ((gap_ps + 1).ilog2() + self.day_entries_log2).clamp(8, 44);
        if shift.abs_diff(self.shift) < 2 {
            return;
        }
        for place in 0..DAYS {
            self.take_day(place);
        }
        let all = std::mem::take(&mut self.today);
        let far = std::mem::take(&mut self.far).into_iter();
        (self.shift, self.day) = (shift, now_ps >> shift);
        self.far_day = u64::MAX;
        for entry in all.into_iter().chain(far.map(|Reverse(entry)| entry)) {
            self.insert(entry);
        }
    }
}
