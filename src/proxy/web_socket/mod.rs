//! WebSockets once the origin has accepted them: raw bytes both ways, or, where signatures speak about client messages, whole
//! messages that are judged one by one.

pub mod frames;
mod judging;
mod relay;

pub(super) use judging::SocketJudge;
pub(super) use relay::{relay_judged, relay_raw};

use http::{HeaderMap, header};

/// Why the messages that a handshake leads to could not be read, when it is so: another version of the protocol has other
/// frames (RFC 6455, section 4.4).
pub(super) fn unreadable(request: &HeaderMap) -> Option<String> {
    let mut versions = request.get_all(header::SEC_WEBSOCKET_VERSION).iter();
    match (versions.next(), versions.next()) {
        (Some(version), None) if version.as_bytes().trim_ascii() == b"13" => None,
        (Some(version), None) => {
            Some(format!("the websocket version {} is not 13", String::from_utf8_lossy(version.as_bytes())))
        }
        (None, _) => Some("no websocket version is asked for".into()),
        (Some(_), Some(_)) => Some("more than one websocket version is asked for".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn versions() {
        let read = |versions: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for version in versions {
                headers.append(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static(version));
            }
            unreadable(&headers)
        };
        assert_eq!(read(&["13"]), None);
        for versions in [&["8"][..], &[], &["13", "13"], &["13, 8"]] {
            assert!(read(versions).is_some(), "{versions:?}");
        }
    }
}
