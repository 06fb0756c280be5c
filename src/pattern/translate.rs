//! From ECMAScript syntax to that of the `regex` crate, for the constructs that mean the same in both.
//!
//! The input has been accepted by an ECMAScript parser already; whatever is not surely the same gives `None`.

use std::iter::Peekable;
use std::str::Chars;

const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";
const SPACE: &str =
    r"\t\n\x0B\x0C\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// Stands for half a character beyond the BMP. Only a pattern that names it, or begins a range with it, could tell it from
/// a surrogate, and such a pattern is not translated.
pub(super) const SURROGATE: char = '\u{e000}';

/// `source` in the syntax of the `regex` crate, when it means the same there for text within the BMP.
pub(super) fn to_linear(source: &str) -> Option<String> {
    if source.contains(SURROGATE) || source.to_ascii_lowercase().contains("\\ue000") {
        return None;
    }
    let mut out = String::with_capacity(source.len() + 16);
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '.' => out.push_str(NOT_LINE_END),
            '^' | '$' | '|' | ')' | '*' | '+' | '?' => out.push(c),
            '(' => group(&mut rest, &mut out)?,
            '{' => counted(&mut rest, &mut out)?,
            '[' => class(&mut rest, &mut out)?,
            '\\' => match rest.next()? {
                'b' => out.push_str(r"(?-u:\b)"),
                letter @ ('d' | 'w' | 's') => out.push_str(&format!("[{}]", set(letter)?)),
                letter @ ('D' | 'W' | 'S') => {
                    out.push_str(&format!("[^{}]", set(letter.to_ascii_lowercase())?))
                }
                other => literal(escaped(other, &mut rest)?, &mut out),
            },
            ']' | '}' => literal(c, &mut out),
            // One character, but two UTF-16 units: a quantifier behind it would mean something else.
            c if c > '\u{ffff}' => return None,
            c => literal(c, &mut out),
        }
    }
    Some(out)
}

/// How many capture groups `source` has.
pub(super) fn capture_groups(source: &str) -> usize {
    let (mut count, mut in_class) = (0, false);
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let mut ahead = rest.clone();
                let plain = ahead.next() != Some('?');
                let named = ahead.next() == Some('<') && !matches!(ahead.next(), Some('=' | '!'));
                count += usize::from(plain || named);
            }
            _ => {}
        }
    }
    count
}

fn literal(c: char, out: &mut String) {
    out.push_str(&format!(r"\x{{{:x}}}", u32::from(c)));
}

fn set(letter: char) -> Option<&'static str> {
    match letter {
        'd' => Some("0-9"),
        'w' => Some("0-9A-Za-z_"),
        's' => Some(SPACE),
        _ => None,
    }
}

/// After `(`: a plain, a non-capturing or a named group; look-around and modifiers are left to the exact engine.
fn group(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('(');
    if rest.peek() != Some(&'?') {
        return Some(());
    }
    rest.next();
    match rest.next()? {
        ':' => out.push_str("?:"),
        '<' if !matches!(rest.peek(), Some('=' | '!')) => {
            // The name is of no use to us, and its rules differ.
            while rest.next()? != '>' {}
        }
        _ => return None,
    }
    Some(())
}

/// After `{`: a counted repetition, or else a literal brace, which is left to the exact engine.
fn counted(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '}' => break,
            c if c.is_ascii_digit() || c == ',' => text.push(c),
            _ => return None,
        }
    }
    let (least, most) = text.split_once(',').unwrap_or((&text, ""));
    let small = |digits: &str| digits.len() <= 4;
    if least.is_empty() || most.contains(',') || !small(least) || !small(most) {
        return None;
    }
    out.push('{');
    out.push_str(&text);
    out.push('}');
    Some(())
}

/// After `[`: a class of characters, ranges and the usual sets.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('[');
    if rest.peek() == Some(&'^') {
        rest.next();
        out.push('^');
    }
    if rest.peek() == Some(&']') {
        return None; // matches nothing, or everything
    }
    loop {
        let first = match rest.next()? {
            ']' => break,
            '\\' => match rest.next()? {
                letter @ ('d' | 'w' | 's') => {
                    out.push_str(set(letter)?);
                    if rest.peek() == Some(&'-') {
                        rest.next();
                        if rest.peek() != Some(&']') {
                            return None;
                        }
                        literal('-', out);
                    }
                    continue;
                }
                'D' | 'W' | 'S' => return None,
                'b' => '\u{8}',
                other => escaped(other, rest)?,
            },
            c => c,
        };
        let mut last = first;
        if rest.peek() == Some(&'-') {
            rest.next();
            match rest.peek() {
                Some(']') => {
                    literal(first, out);
                    literal('-', out);
                    continue;
                }
                Some('\\') => {
                    rest.next();
                    let next = rest.next()?;
                    if "dwsDWSb".contains(next) {
                        return None;
                    }
                    last = escaped(next, rest)?;
                }
                Some(_) => last = rest.next()?,
                None => return None,
            }
        }
        if first > '\u{ffff}' || last > '\u{ffff}' {
            return None;
        }
        literal(first, out);
        if last != first {
            out.push('-');
            literal(last, out);
        }
    }
    out.push(']');
    Some(())
}

/// The character that an escape stands for; `first` follows the backslash.
fn escaped(first: char, rest: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut hex = |digits: usize| {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + rest.next()?.to_digit(16)?;
        }
        char::from_u32(value)
    };
    match first {
        't' => Some('\t'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        'x' => hex(2),
        'u' => hex(4),
        c if c.is_ascii_punctuation() => Some(c),
        _ => None,
    }
}
