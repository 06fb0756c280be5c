use super::*;
use proptest::prelude::*;

const KEY: [u8; 4] = [7, 11, 13, 0];

/// A masked client frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        length @ 0..126 => out.push(0x80 | length as u8),
        length @ 126..65536 => {
            out.push(0x80 | 126);
            out.extend((length as u16).to_be_bytes());
        }
        length => {
            out.push(0x80 | 127);
            out.extend((length as u64).to_be_bytes());
        }
    }
    out.extend(KEY);
    out.extend(payload.iter().zip(KEY.iter().cycle()).map(|(byte, key)| byte ^ key));
    out
}

/// The messages, and the fault at the end.
fn read(bytes: &[u8], limit: usize) -> (Vec<Unit>, Option<String>) {
    let mut reader = Reader::new(limit);
    reader.push(bytes);
    let mut units = Vec::new();
    loop {
        match reader.next_unit() {
            Ok(Some(unit)) => units.push(unit),
            Ok(None) => return (units, None),
            Err(fault) => return (units, Some(fault)),
        }
    }
}

#[test]
fn fragments_become_one_message_and_control_frames_pass_between_them() {
    let (first, ping, last) = (frame(0x01, b"sa"), frame(0x89, b"p"), frame(0x80, b"ve"));
    let (units, fault) = read(&[&first[..], &ping, &last, &frame(0x82, b"\0")].concat(), 100);
    assert_eq!(fault, None);
    let text = Unit::Message { frames: [first, last].concat(), payload: b"save".to_vec(), is_text: true };
    let binary = Unit::Message { frames: frame(0x82, b"\0"), payload: vec![0], is_text: false };
    assert_eq!(units, [Unit::Control(ping), text, binary]);
}

#[test]
fn what_servers_could_read_otherwise_is_a_fault() {
    let after = |begin: &[u8], bytes: &[u8]| [begin, bytes].concat();
    let open = frame(0x01, b"a");
    for (bytes, want) in [
        (frame(0xc1, b"a"), "reserved bits"),
        (frame(0xa1, b"a"), "reserved bits"),
        (frame(0x91, b"a"), "reserved bits"),
        (frame(0x83, b"a"), "reserved opcode"),
        (frame(0x8b, b"a"), "reserved opcode"),
        (vec![0x81, 1, b'a'], "without a mask"),
        (vec![0x81, 0x80 | 126, 0, 1, 0, 0, 0, 0, b'a'], "the shortest way"),
        (vec![0x81, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, b'a'], "the shortest way"),
        (frame(0x09, b"a"), "in fragments"),
        (frame(0x89, &[0; 126]), "too long"),
        (frame(0x88, b"a"), "half a code"),
        (frame(0x80, b"a"), "without a message"),
        (frame(0x00, b"a"), "without a message"),
        (after(&open, &frame(0x81, b"b")), "within a message"),
        (after(&frame(0x88, &[3, 232]), b"x"), "follow a close"),
        (frame(0x81, &[0; 201]), "longer than 200 bytes"),
        (after(&frame(0x01, &[0; 150]), &frame(0x80, &[0; 51])), "longer than 200 bytes"),
        (vec![0x81, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "longer than 200 bytes"),
    ] {
        let fault = read(&bytes, 200).1.unwrap_or_default();
        assert!(fault.contains(want), "{want}: {fault:?}");
    }
    let empty = frame(0x00, b"").repeat(20_000);
    assert_eq!(read(&after(&open, &empty), 200).1.as_deref(), Some("it has too many fragments"));
}

#[test]
fn what_is_cut_is_known_to_be_cut() {
    let mut reader = Reader::new(100);
    assert!(!reader.is_within_message());
    for bytes in [&frame(0x01, b"a")[..], &[0x80]] {
        reader.push(bytes);
        assert_eq!(reader.next_unit(), Ok(None));
        assert!(reader.is_within_message());
    }
}

#[test]
fn close_frames() {
    assert_eq!(close(1008, "no", false), [0x88, 4, 0x03, 0xf0, b'n', b'o']);
    let masked = close(1008, &"ü".repeat(100), true);
    assert_eq!(masked.len(), 6 + 124, "cut between two letters");
    let (units, fault) = read(&masked, 0);
    assert_eq!((units, fault), (vec![Unit::Control(masked.clone())], None));
}

#[test]
fn boundaries_of_server_frames() {
    let mut boundary = Boundary::default();
    let bytes =
        [&[0x81, 2, b'a', b'b'][..], &[0x82, 126, 1, 0], &[0; 256], &[0x89, 0x80, 1, 2, 3, 4]].concat();
    let between: Vec<usize> = (0..bytes.len())
        .filter(|at| {
            boundary.walk(&bytes[*at..=*at]);
            boundary.is_between_frames()
        })
        .collect();
    assert_eq!(between, [3, 263, 269]);
    let mut within = Boundary::default();
    within.walk(&[0x81, 3, b'a']);
    assert_eq!((within.rest_of_frame(b"bc\x81"), within.rest_of_frame(b"b")), (2, 1));
    assert!(!within.is_between_frames());
}

proptest! {
    #[test]
    fn messages_are_the_same_however_they_are_cut(
        messages in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..300), 1..4usize, any::<bool>(), any::<bool>()), 0..5),
        cuts in proptest::collection::vec(1..50usize, 1..20),
    ) {
        let (mut bytes, mut want) = (Vec::new(), Vec::new());
        for (payload, fragments, is_text, pinged) in &messages {
            let size = payload.len() / fragments + 1;
            let parts: Vec<&[u8]> = if payload.is_empty() { vec![&[]] } else { payload.chunks(size).collect() };
            for (index, part) in parts.iter().enumerate() {
                let opcode = if index > 0 { 0 } else if *is_text { 1 } else { 2 };
                let last = if index + 1 == parts.len() { 0x80 } else { 0 };
                bytes.extend(frame(opcode | last, part));
                if *pinged && last == 0 { bytes.extend(frame(0x89, b"x")); }
            }
            want.push((payload.clone(), *is_text));
        }
        let mut reader = Reader::new(1000);
        let (mut found, mut passed, mut at) = (Vec::new(), 0, 0);
        for cut in cuts.iter().cycle() {
            if at == bytes.len() { break }
            let end = bytes.len().min(at + cut);
            reader.push(&bytes[at..end]);
            at = end;
            while let Some(unit) = reader.next_unit().unwrap() {
                match unit {
                    Unit::Control(raw) => passed += raw.len(),
                    Unit::Message { frames, payload, is_text } => { passed += frames.len(); found.push((payload, is_text)); }
                }
            }
        }
        prop_assert_eq!(found, want);
        prop_assert_eq!(passed, bytes.len(), "what was sent is what is passed on");
        prop_assert!(!reader.is_within_message());
    }

    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = read(&bytes, 50);
        let mut boundary = Boundary::default();
        let _ = boundary.rest_of_frame(&bytes);
        boundary.walk(&bytes);
    }
}
