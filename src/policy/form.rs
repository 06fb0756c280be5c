//! Forms: the fields that a server makes of an urlencoded or a multipart body, all occurrences of each.

use super::request::{decode, form_values};

/// How the fields of a body are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormKind {
    Urlencoded,
    Multipart,
}

impl FormKind {
    /// What a content type says.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let lower = content_type.to_ascii_lowercase();
        if lower.contains("multipart/form-data") {
            Some(Self::Multipart)
        } else if lower.contains("x-www-form-urlencoded") {
            Some(Self::Urlencoded)
        } else {
            None
        }
    }
}

/// The values of the parameter `name` in a header value; separators within quotes are none (RFC 9110, section 5.6.4).
pub(super) fn parameters<'a>(value: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let mut quoted = false;
    let mut escaped = false;
    let separates = move |c: char| {
        let after_backslash = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !after_backslash => escaped = true,
            '"' if !after_backslash => quoted = !quoted,
            _ => {}
        }
        matches!(c, ';' | ',') && !quoted
    };
    value.split(separates).filter_map(move |part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
    })
}

/// The fields of an urlencoded body.
pub(super) fn urlencoded(text: &str) -> Vec<(String, String)> {
    let decoded = |part: &str| decode(&part.replace('+', " "));
    let pairs = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut fields: Vec<_> = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    // Some readers part pairs at a semicolon as well.
    fields.extend(form_values(text, "_method").map(|value| ("_method".to_owned(), value)));
    fields
}

/// The fields of a multipart body (RFC 7578); `None` when it is not well formed, or when two readers could make different
/// fields of it: two boundaries, two names of a part, a transfer encoding.
pub(super) fn multipart(content_type: &str, text: &str) -> Option<Vec<(String, String)>> {
    let delimiter = format!("--{}", only(parameters(content_type, "boundary")).filter(|it| !it.is_empty())?);
    let mut parts = text.split(delimiter.as_str());
    parts.next()?;
    let mut fields = Vec::new();
    let mut closed = false;
    for part in parts {
        if closed {
            return None;
        }
        if part.starts_with("--") {
            closed = true;
            continue;
        }
        let part =
            part.trim_start_matches([' ', '\t']).strip_prefix("\r\n").or_else(|| part.strip_prefix('\n'))?;
        let (head, value) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))?;
        let value = value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n'))?;
        fields.push((name_of_part(head)?, value.to_owned()));
    }
    closed.then_some(fields)
}

fn name_of_part(head: &str) -> Option<String> {
    let lines = || head.lines().filter_map(|line| line.split_once(':'));
    let named = |name: &'static str| {
        lines().filter(move |(key, _)| key.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    let folded = head.lines().any(|line| line.starts_with([' ', '\t']));
    let encoded = named("content-transfer-encoding")
        .any(|coding| !matches!(coding.trim().to_ascii_lowercase().as_str(), "7bit" | "8bit" | "binary"));
    let disposition = only(named("content-disposition"))?;
    if folded || encoded || parameters(disposition, "name*").next().is_some() {
        return None;
    }
    let mut names = parameters(disposition, "name");
    let name = names.next().unwrap_or_default();
    // Quoted pairs, and the percent-encoding that browsers use for quotes and line ends.
    names.next().is_none().then(|| decode(&name.replace('\\', "")))
}

/// The one item; `None` when there is none, or another one.
fn only<'a>(mut items: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = items.next()?;
    items.all(|item| item == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIND: &str = "multipart/form-data; boundary=\"x\"";

    fn part(head: &str, value: &str) -> String {
        format!("--x\r\n{head}\r\n\r\n{value}\r\n")
    }

    #[test]
    fn fields_of_an_urlencoded_body() {
        let fields = urlencoded("a=1&b+c=%64+e&_method=put&x;_method=delete");
        for (name, value) in [("b c", "d e"), ("_method", "put"), ("_method", "delete")] {
            assert!(fields.contains(&(name.into(), value.into())), "{fields:?}");
        }
    }

    #[test]
    fn fields_of_a_multipart_body() {
        let body = [
            part("Content-Disposition: form-data; name=\"_method\"", "DELETE"),
            part(
                "content-disposition: form-data; name=f; filename=a\r\nContent-Transfer-Encoding: binary",
                "bin",
            ),
            part("Content-Disposition: form-data; name=\"_\\method\"", "PUT"),
            part("Content-Disposition: form-data; name=\"a%22b\"", ""),
            "--x--\r\n".into(),
        ]
        .concat();
        let fields = multipart(KIND, &body).unwrap();
        let want = [("_method", "DELETE"), ("f", "bin"), ("_method", "PUT"), ("a\"b", "")];
        assert_eq!(fields, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(multipart(KIND, &body[..40]).is_none(), "cut short");
        assert!(multipart("multipart/form-data", &body).is_none(), "no boundary");
        assert!(multipart(&format!("{KIND}, multipart/form-data; boundary=y"), &body).is_none(), "two");
    }

    #[test]
    fn parts_with_two_readings_are_refused() {
        for head in [
            "Content-Disposition: form-data; name=a; name=_method",
            "Content-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=_method",
            "Content-Disposition: form-data; name=a; name*=utf-8''_method",
            "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
            "Content-Disposition: form-data; name=a;\r\n name=_method",
            "X: y",
        ] {
            assert_eq!(multipart(KIND, &format!("{}--x--", part(head, "v"))), None, "{head}");
        }
    }

    #[test]
    fn separators_in_quotes_are_none() {
        let value = r#"form-data; filename="x;name=q\"; name=z"; name="_method""#;
        assert_eq!(parameters(value, "name").collect::<Vec<_>>(), ["_method"]);
        assert_eq!(parameters("multipart/form-data; boundary=\"a;b\"", "boundary").next(), Some("a;b"));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(fields in proptest::collection::vec(("[a-z_]{1,8}", "[^-]{0,20}"), 0..5)) {
            let parts = fields.iter().map(|(name, value)| part(&format!("Content-Disposition: form-data; name=\"{name}\""), value));
            let body = parts.chain(["--x--\r\n".to_owned()]).collect::<String>();
            prop_assert_eq!(multipart(KIND, &body), Some(fields.clone()));
        }

        #[test]
        fn nothing_panics(head in ".{0,40}", text in "(--x|\r\n|\n|:|name=|\"|.){0,30}") {
            let _ = multipart(&format!("{KIND}{head}"), &text);
            let _ = urlencoded(&text);
        }
    }
}
