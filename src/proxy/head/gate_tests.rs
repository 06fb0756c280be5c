use super::*;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Writes `bytes` in pieces of `cut` and reads what comes through in buffers of `room`, until the stream ends or is silent.
fn through(bytes: &[u8], first: usize, cut: usize, room: usize) -> (Vec<u8>, Arc<Gate>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut near, far) = tokio::io::duplex(64);
        let (begin, rest) = bytes.split_at(first.min(bytes.len()));
        let (mut stream, gate) = HeadStream::new(far, begin.to_vec());
        let rest = rest.to_vec();
        let writing = tokio::spawn(async move {
            for piece in rest.chunks(cut) {
                if near.write_all(piece).await.is_err() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        let mut out = Vec::new();
        let mut buffer = vec![0; room];
        // A stream that waits for an answer, or discards, is silent for good.
        while let Ok(Ok(length @ 1..)) =
            tokio::time::timeout(Duration::from_millis(300), stream.read(&mut buffer)).await
        {
            out.extend_from_slice(&buffer[..length]);
        }
        drop(stream);
        writing.await.unwrap();
        (out, gate)
    })
}

fn message(kind: usize, size: usize) -> Vec<u8> {
    let body = "x".repeat(size);
    match kind {
        0 => "GET /a HTTP/1.1\r\nHost: a\r\n\r\n".into(),
        1 => format!("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n{body}").into_bytes(),
        2 => format!(
            "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n"
        )
        .into_bytes(),
        _ => "\r\nDELETE /d HTTP/1.1\r\nHost: a\r\n\r\n".into(),
    }
}

#[test]
fn a_fault_is_replaced_and_nothing_behind_it_comes_through() {
    let good = message(1, 3);
    let bad = b"POST /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nGET /hidden HTTP/1.1\r\n\r\n";
    let (out, gate) = through(&[&good[..], bad].concat(), 0, 1000, 1000);
    assert_eq!(out, [&good[..], STAND_IN].concat());
    assert_eq!(gate.fault_of_next(), None);
    assert_eq!(gate.fault_of_next().and_then(|fault| fault.target).as_deref(), Some("/x"));
}

#[test]
fn a_head_that_stops_is_a_fault_after_a_while() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut near, far) = tokio::io::duplex(64);
        let (mut stream, gate) = HeadStream::new(far, Vec::new());
        stream.patience = Duration::from_millis(50);
        near.write_all(b"GET / HT").await.unwrap();
        let mut out = vec![0; 200];
        let length = stream.read(&mut out).await.unwrap();
        assert_eq!(&out[..length], STAND_IN);
        assert!(gate.fault_of_next().is_some());
    });
}

#[test]
fn what_ends_within_a_head_is_kept_for_the_record() {
    assert!(through(b"GET / HTTP/1.1\r\nHo", 0, 3, 50).1.take_unserved().is_some());
    assert_eq!(through(b"GET / HTTP/1.1\r\n\r\n\r\n", 0, 3, 50).1.take_unserved(), None);
    assert_eq!(through(b"", 0, 3, 50).1.take_unserved(), None);
}

#[test]
fn behind_an_upgrade_nothing_is_read_before_it_is_answered() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for accepted in [true, false] {
        runtime.block_on(async {
            let (mut near, far) = tokio::io::duplex(640);
            let (mut stream, gate) = HeadStream::new(far, Vec::new());
            let head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
            near.write_all(&[&head[..], b"\x81\x00 bytes\n"].concat()).await.unwrap();
            let mut out = vec![0; 200];
            let length = stream.read(&mut out).await.unwrap();
            assert_eq!(&out[..length], head);
            let silent = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut out)).await;
            assert!(silent.is_err());
            gate.answer_upgrade(accepted);
            let length = stream.read(&mut out).await.unwrap();
            let want = if accepted { &b"\x81\x00 bytes\n"[..] } else { STAND_IN };
            assert_eq!(&out[..length], want, "accepted: {accepted}");
        });
    }
}

proptest! {
    #[test]
    fn good_messages_pass_unchanged_however_they_are_cut(
        kinds in proptest::collection::vec((0..4usize, 1..90usize), 1..6), first in 0..50usize, cut in 1..40usize, room in 1..70usize,
    ) {
        let bytes: Vec<u8> = kinds.iter().flat_map(|(kind, size)| message(*kind, *size)).collect();
        let (out, gate) = through(&bytes, first, cut, room);
        prop_assert_eq!(out, bytes);
        for _ in kinds {
            prop_assert_eq!(gate.fault_of_next(), None);
        }
        prop_assert_eq!(gate.take_unserved(), None);
    }
}
