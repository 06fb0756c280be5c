//! Bytes as text, in every reading that a server may take: what the sender states, what a byte order mark says, what the
//! bytes look like, and UTF-8, which many servers assume whatever is stated.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

/// Every reading of `bytes`, each once; the most usual one first.
///
/// # Errors
/// When a label names no charset that is known.
pub(super) fn readings<'a>(
    labels: impl Iterator<Item = &'a str>,
    bytes: &[u8],
) -> Result<Vec<String>, String> {
    let mut stated = Vec::new();
    for label in labels {
        let encoding =
            Encoding::for_label(label.trim().as_bytes()).filter(|encoding| *encoding != REPLACEMENT);
        let encoding = encoding.ok_or_else(|| format!("its charset is {label}"))?;
        stated.push(encoding);
        // Without a mark some read it the other way round than browsers do (RFC 2781, section 4.3).
        if label.trim().eq_ignore_ascii_case("utf-16") {
            stated.push(UTF_16BE);
        }
    }
    let unmarked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut found = vec![UTF_8.decode_without_bom_handling(unmarked).0.into_owned()];
    let mut add = |text: String| {
        if !found.contains(&text) {
            found.push(text);
        }
    };
    for encoding in stated {
        add(encoding.decode_with_bom_removal(bytes).0.into_owned());
    }
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        add(encoding.decode_with_bom_removal(bytes).0.into_owned());
    }
    // JSON and the like begin with ASCII, and some servers tell the width by where the zeros are (RFC 4627, section 3).
    match bytes {
        [0, 0, 0, _, ..] | [0, 0, 0xfe, 0xff, ..] => add(utf_32(bytes, u32::from_be_bytes)),
        [_, 0, 0, 0, ..] | [0xff, 0xfe, 0, 0, ..] => add(utf_32(bytes, u32::from_le_bytes)),
        [0, 1..=255, ..] => add(UTF_16BE.decode_without_bom_handling(bytes).0.into_owned()),
        [1..=255, 0, ..] => add(UTF_16LE.decode_without_bom_handling(bytes).0.into_owned()),
        _ => {}
    }
    Ok(found)
}

fn utf_32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> String {
    let chars = bytes.as_chunks::<4>().0.iter().map(|four| char::from_u32(unit(*four)));
    let text: String = chars.map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    text.trim_start_matches('\u{feff}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(label: Option<&str>, bytes: &[u8], text: &str) -> bool {
        readings(label.into_iter(), bytes).unwrap().iter().any(|reading| reading == text)
    }

    fn wide<const N: usize, U>(units: impl Iterator<Item = U>, unit: fn(U) -> [u8; N]) -> Vec<u8> {
        units.flat_map(unit).collect()
    }

    #[test]
    fn every_reading_is_there() {
        assert!(reads(Some("iso-8859-1"), b"caf\xe9", "café"));
        assert!(reads(Some("Windows-1252"), b"\x80", "€"));
        assert!(reads(Some("shift_jis"), b"\x82\xa0", "あ"));
        let text = "{\"é\"}";
        for bytes in [
            wide(text.encode_utf16(), u16::to_le_bytes),
            wide(text.encode_utf16(), u16::to_be_bytes),
            wide(text.chars().map(u32::from), u32::to_le_bytes),
            wide(text.chars().map(u32::from), u32::to_be_bytes),
        ] {
            assert!(reads(None, &bytes, text), "{bytes:?}");
        }
        let marked = format!("\u{feff}{text}");
        for bytes in [
            marked.clone().into_bytes(),
            wide(marked.encode_utf16(), u16::to_be_bytes),
            wide(marked.encode_utf16(), u16::to_le_bytes),
            wide(marked.chars().map(u32::from), u32::to_be_bytes),
            wide(marked.chars().map(u32::from), u32::to_le_bytes),
        ] {
            assert!(reads(None, &bytes, text), "{bytes:?}");
        }
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            assert!(reads(Some("UTF-16"), &wide("ü".encode_utf16(), unit), "ü"));
        }
    }

    #[test]
    fn a_stated_charset_does_not_hide_what_others_read() {
        assert!(reads(Some("utf-16"), b"mutation", "mutation"));
        assert_eq!(readings(["utf-8"].into_iter(), b"plain"), Ok(vec!["plain".into()]));
    }

    #[test]
    fn unknown_charsets_are_refused() {
        for label in ["utf-7", "x", "hz-gb-2312", ""] {
            assert_eq!(readings([label].into_iter(), b"a"), Err(format!("its charset is {label}")));
        }
    }
}
