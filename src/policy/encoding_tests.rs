//! Also makes coded bodies for the tests of its neighbours.

use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use http::HeaderValue;
use proptest::prelude::*;
use std::io::Write;

/// Applies one coding; `raw` is deflate without its wrapper.
pub fn encode(coding: &str, bytes: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" | "x-gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "raw" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let params = brotli::enc::BrotliEncoderParams { quality: 4, ..Default::default() };
            brotli::BrotliCompress(&mut &bytes[..], &mut out, &params).unwrap();
            out
        }
        "zstd" => ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest),
        other => panic!("{other}"),
    }
}

fn undone(coding: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let mut headers = HeaderMap::new();
    for line in coding.split('|') {
        headers.append(CONTENT_ENCODING, HeaderValue::from_str(line).unwrap());
    }
    decode(&headers, bytes, limit).map(Cow::into_owned)
}

#[test]
fn codings_are_undone() {
    let text = b"mutation { pay(id: 1) { id } } mutation { pay(id: 2) { id } }";
    for (stated, applied) in [
        ("gzip", &["gzip"][..]),
        ("GZIP", &["gzip"]),
        ("x-gzip", &["gzip"]),
        (" identity , gzip,", &["gzip"]),
        ("deflate", &["deflate"]),
        ("deflate", &["raw"]),
        ("br", &["br"]),
        ("zstd", &["zstd"]),
        ("gzip, gzip", &["gzip", "gzip"]),
        ("gzip|br, zstd", &["gzip", "br", "zstd"]),
        ("identity", &[]),
        ("", &[]),
    ] {
        let coded = applied.iter().fold(text.to_vec(), |bytes, coding| encode(coding, &bytes));
        assert_eq!(undone(stated, &coded, 1000).as_deref(), Ok(&text[..]), "{stated}");
    }
    // Several members or frames are one body.
    let twice = |coding: &str| [encode(coding, b"a"), encode(coding, b"b")].concat();
    assert_eq!(undone("gzip", &twice("gzip"), 10).as_deref(), Ok(&b"ab"[..]));
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &twice("zstd")].concat();
    assert_eq!(undone("zstd", &skippable, 10).as_deref(), Ok(&b"ab"[..]));
}

#[test]
fn what_does_not_decode_to_its_end_is_refused() {
    let text = b"the quick brown fox jumps over the lazy dog, and over another one";
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let coded = encode(coding, text);
        for bytes in [&coded[..coded.len() / 2], &coded[..coded.len() - 1], b"plain text", b""] {
            let fault = undone(coding, bytes, 1000).expect_err(coding);
            assert!(
                fault.starts_with(&format!("its content encoding {coding} cannot be undone: ")),
                "{fault}"
            );
        }
        let trailed = [&coded[..], b"trailing"].concat();
        assert!(undone(coding, &trailed, 1000).is_err(), "{coding} with bytes behind it");
    }
    let cut = [&encode("zstd", b"a")[..], &[0x50, 0x2a, 0x4d, 0x18, 9, 0, 0, 0, 1]].concat();
    assert!(undone("zstd", &cut, 10).unwrap_err().ends_with("a skippable frame is cut short"));
    let mut summed = encode("zstd", text);
    *summed.last_mut().unwrap() ^= 1;
    assert!(undone("zstd", &summed, 1000).unwrap_err().ends_with("its checksum is wrong"));
    assert_eq!(undone("compress", b"", 10), Err("its content encoding compress is not known".into()));
    assert_eq!(undone("gzip;q=1", b"", 10), Err("its content encoding gzip;q=1 is not known".into()));
    assert!(
        undone("gzip,gzip,gzip,gzip,gzip", b"", 10).unwrap_err().ends_with("more than 4 content codings")
    );
}

#[test]
fn bytes_with_two_readings_are_in_doubt() {
    let stored =
        |last: u8, length: u16| [&[last][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    // What zlib takes for the data of one stored block is, as raw deflate, two blocks of other bounds.
    let hidden = vec![b'w'; 65525];
    let data = [&stored(0, 65525)[1..], &hidden, &stored(1, 9)].concat();
    let (a, b) = data.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    let bytes =
        [&[0x78, 0x01][..], &stored(0, 65534), &data, &stored(1, 0), &(b << 16 | a).to_be_bytes()].concat();
    let bare = drain(&mut DeflateDecoder::new(&bytes[..]), 100_000).unwrap_or_default();
    let wrapped = drain(&mut ZlibDecoder::new(&bytes[..]), 100_000).unwrap_or_default();
    assert!(bare.len() == 65535 && wrapped == data, "both decode");
    assert!(undone("deflate", &bytes, 100_000).unwrap_err().ends_with("it reads as zlib and as raw deflate"));
}

#[test]
fn a_bomb_ends_at_the_limit() {
    let zeros = vec![b'0'; 4 << 20];
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let bomb = encode(coding, &zeros);
        assert!(bomb.len() < 50_000, "{coding}");
        let fault = undone(coding, &bomb, 100_000).unwrap_err();
        assert_eq!(fault, format!("its content encoding {coding} gives more than 100000 bytes"));
        let nested = encode("gzip", &bomb);
        assert!(undone(&format!("{coding}, gzip"), &nested, 100_000).is_err());
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_the_limit_holds(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), flips in proptest::collection::vec((0..400usize, any::<u8>()), 0..3),
        coding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd"]), coded in any::<bool>(),
    ) {
        let mut bytes = if coded { encode(coding, &bytes) } else { bytes };
        for (at, byte) in flips {
            if let Some(place) = bytes.get_mut(at) { *place ^= byte }
        }
        if let Ok(out) = undone(coding, &bytes, 100) {
            prop_assert!(out.len() <= 100);
        }
    }

    #[test]
    fn what_was_coded_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..2000), coding in prop::sample::select(vec!["gzip", "deflate", "br", "zstd"])) {
        prop_assert_eq!(undone(coding, &encode(coding, &bytes), 2000), Ok(bytes));
    }
}
