//! Which entries of the lists spoke about a request, for a person who asks why it was judged as it was.

use super::decide::Examination;
use super::rules::{Hit, List};

/// The first entry of each list that spoke, by its index in that list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The write signature that fired.
    pub fired: Option<usize>,
    /// The allow signature that holds, whether there was something to clear or not.
    pub cleared: Option<usize>,
    /// The drop signature that holds.
    pub dropped: Option<usize>,
}

impl Examination<'_> {
    /// Says which entries speak. What [`Self::decide`] makes of them depends on the policy.
    pub fn explain(&self) -> Explanation {
        let first = |list: List, speaks: &dyn Fn(&Hit<'_>) -> bool| {
            self.hits().iter().find(|hit| hit.list == list && speaks(hit)).map(|hit| hit.index)
        };
        Explanation {
            fired: first(List::Write, &|hit| self.fires(hit).is_some()),
            cleared: first(List::Allow, &|hit| self.holds(hit)),
            dropped: first(List::Drop, &|hit| self.holds(hit)),
        }
    }
}
