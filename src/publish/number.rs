//! Numbers as other tools of the trade print them: a whole number has no fraction, `1` and not `1.0`.

use serde::{Serialize, Serializer};

/// A number that is written without a fraction where it has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plain(pub f64);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = self.0.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&self.0);
        if whole { serializer.serialize_u64(self.0 as u64) } else { serializer.serialize_f64(self.0) }
    }
}

/// The share of `part` in `whole` in percent, to one decimal; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> Plain {
    if whole == 0 {
        return Plain(0.0);
    }
    Plain((part as f64 / whole as f64 * 1000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_no_fraction() {
        let text = |number| serde_json::to_string(&Plain(number)).unwrap();
        assert_eq!([text(1.0), text(0.0), text(9.1), text(0.1)], ["1", "0", "9.1", "0.1"]);
        assert_eq!(percent(1, 11), Plain(9.1));
        assert_eq!(percent(0, 0), Plain(0.0));
        assert_eq!(percent(1, 10), Plain(10.0));
    }
}
