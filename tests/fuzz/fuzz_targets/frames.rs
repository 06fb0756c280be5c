//! WebSocket frames: what we read of a client is what another implementation reads, however it is cut, and what is passed on is
//! what was sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use qa_pilot::proxy::frames::{Boundary, Reader, Unit};
use std::io::{Cursor, Read, Write};
use tungstenite::Message;
use tungstenite::protocol::{Role, WebSocket};

/// Gives bytes, and takes answers without keeping them.
struct Wire<'a>(Cursor<&'a [u8]>);

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn units(pieces: [&[u8]; 2]) -> (Vec<Unit>, bool) {
    let mut reader = Reader::new(1 << 12);
    let mut found = Vec::new();
    for piece in pieces {
        reader.push(piece);
        loop {
            match reader.next_unit() {
                Ok(Some(unit)) => found.push(unit),
                Ok(None) => break,
                Err(_) => return (found, true),
            }
        }
    }
    (found, false)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let whole = units([bytes, &[]]);
    assert_eq!(
        units([&bytes[..usize::from(cut).min(bytes.len())], &bytes[usize::from(cut).min(bytes.len())..]]),
        whole
    );
    let passed: usize = whole
        .0
        .iter()
        .map(|unit| match unit {
            Unit::Control(frame) => frame.len(),
            Unit::Message { frames, .. } => frames.len(),
        })
        .sum();
    assert!(passed <= bytes.len());

    let mut other = WebSocket::from_raw_socket(Wire(Cursor::new(bytes)), Role::Server, None);
    let ours = whole.0.iter().filter_map(|unit| match unit {
        Unit::Message { payload, is_text, .. } => Some((payload.as_slice(), *is_text)),
        Unit::Control(_) => None,
    });
    for (payload, is_text) in ours {
        if is_text && std::str::from_utf8(payload).is_err() {
            break;
        }
        let theirs = loop {
            match other.read() {
                Ok(Message::Text(text)) => break (text.as_bytes().to_vec(), true),
                Ok(Message::Binary(bytes)) => break (bytes.to_vec(), false),
                Ok(Message::Close(_)) => panic!("a message behind a close"),
                Ok(_) => {}
                // Text is checked as it comes there, and as a whole by whoever judges it.
                Err(error) => panic!("{error} for {payload:?}"),
            }
        };
        assert_eq!((payload, is_text), (theirs.0.as_slice(), theirs.1));
    }
    let mut boundary = Boundary::default();
    boundary.walk(bytes);
    boundary.rest_of_frame(bytes);
});
