//! Time as the records spell it.

pub use jiff::Timestamp;

/// The current time.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// ISO 8601 in UTC with milliseconds: `2026-11-30T10:15:00.123Z`.
pub fn iso(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

/// Reads an ISO 8601 time that says its offset from UTC.
pub fn read(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// The compact form that run ids start with: `20261130T101500Z`.
pub fn compact(time: Timestamp) -> String {
    time.strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling() {
        let time: Timestamp = "2026-11-30T10:15:00.123456Z".parse().unwrap();
        assert_eq!(iso(time), "2026-11-30T10:15:00.123Z");
        assert_eq!(compact(time), "20261130T101500Z");
    }
}
