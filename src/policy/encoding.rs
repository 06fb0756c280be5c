//! Content codings undone (RFC 9110, section 8.4.1): gzip, deflate, br and zstd, also one on top of another.
//!
//! What comes out is bounded whatever goes in. A coding that is not known, does not decode to its end or decodes to more than
//! the bound is an error: then nobody here knows what the server will read.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::borrow::Cow;
use std::io::Read;

/// How many codings may lie on top of one another; nobody sends more than two in earnest.
const MAX_LAYERS: usize = 4;

/// The largest window that a zstd body may ask for (RFC 9659, section 3).
const ZSTD_WINDOW: u64 = 8 << 20;

/// Undoes the codings that `headers` state, the last one first. No layer may give more than `limit` bytes.
///
/// # Errors
/// Why the body cannot be decoded, as a part of a sentence.
pub(super) fn decode<'a>(
    headers: &HeaderMap,
    bytes: &'a [u8],
    limit: usize,
) -> Result<Cow<'a, [u8]>, String> {
    let stated: Vec<String> = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|coding| String::from_utf8_lossy(coding.trim_ascii()).to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    if stated.len() > MAX_LAYERS {
        return Err(format!("it has more than {MAX_LAYERS} content codings"));
    }
    let mut decoded = Cow::Borrowed(bytes);
    for coding in stated.iter().rev() {
        decoded = Cow::Owned(undo(coding, &decoded, limit)?);
    }
    Ok(decoded)
}

fn undo(coding: &str, bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    match coding {
        "gzip" | "x-gzip" => drain(&mut MultiGzDecoder::new(bytes), limit),
        "deflate" => inflate(bytes, limit),
        "br" => brotli(bytes, limit),
        "zstd" => zstd(bytes, limit),
        _ => return Err(format!("its content encoding {coding} is not known")),
    }
    .map_err(|fault| match fault {
        Fault::TooLong => format!("its content encoding {coding} gives more than {limit} bytes"),
        Fault::Broken(why) => format!("its content encoding {coding} cannot be undone: {why}"),
    })
}

enum Fault {
    TooLong,
    Broken(String),
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

fn broken(why: &str) -> Fault {
    Fault::Broken(why.into())
}

/// Reads to the end, and never more than one chunk past the limit.
fn drain(reader: &mut impl Read, limit: usize) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(out),
            length => out.extend_from_slice(chunk.get(..length).unwrap_or_default()),
        }
        if out.len() > limit {
            return Err(Fault::TooLong);
        }
    }
}

/// `deflate` is a zlib stream (RFC 1950), yet some senders leave its wrapper out and some servers look for neither. Bytes that
/// read differently both ways are in doubt.
fn inflate(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let mut zlib = ZlibDecoder::new(bytes);
    let wrapped = drain(&mut zlib, limit).and_then(|out| whole(out, zlib.into_inner()));
    let mut raw = DeflateDecoder::new(bytes);
    let bare = drain(&mut raw, limit).and_then(|out| whole(out, raw.into_inner()));
    match (wrapped, bare) {
        (Ok(wrapped), Ok(bare)) if wrapped != bare => Err(broken("it reads as zlib and as raw deflate")),
        (Err(Fault::TooLong), _) | (_, Err(Fault::TooLong)) => Err(Fault::TooLong),
        (Ok(out), _) | (_, Ok(out)) => Ok(out),
        (Err(fault), Err(_)) => Err(fault),
    }
}

fn whole(out: Vec<u8>, rest: &[u8]) -> Result<Vec<u8>, Fault> {
    if rest.is_empty() { Ok(out) } else { Err(broken("bytes follow its end")) }
}

/// A brotli stream (RFC 7932) up to its end.
fn brotli(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new(alloc(), alloc(), alloc());
    let (mut left, mut at, mut total) = (bytes.len(), 0, 0);
    let mut out = Vec::new();
    let mut chunk = [0; 16 << 10];
    loop {
        let (mut space, mut filled) = (chunk.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            bytes,
            &mut space,
            &mut filled,
            &mut chunk,
            &mut total,
            &mut state,
        );
        out.extend_from_slice(chunk.get(..filled).unwrap_or_default());
        match result {
            _ if out.len() > limit => return Err(Fault::TooLong),
            BrotliResult::ResultSuccess => return whole(out, bytes.get(at..).unwrap_or_default()),
            BrotliResult::NeedsMoreOutput => {}
            BrotliResult::NeedsMoreInput => return Err(broken("it is cut short")),
            BrotliResult::ResultFailure => return Err(broken("it is no brotli stream")),
        }
    }
}

/// One frame after another (RFC 8878, section 3); skippable ones hold nothing.
fn zstd(mut bytes: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW);
    if bytes.is_empty() {
        return Err(broken("it is empty"));
    }
    while !bytes.is_empty() {
        match StreamingDecoder::new_with_decoder(&mut bytes, &mut decoder) {
            Ok(mut stream) => out.append(&mut drain(&mut stream, limit.saturating_sub(out.len()))?),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                bytes = bytes.get(length..).ok_or_else(|| broken("a skippable frame is cut short"))?;
                continue;
            }
            Err(error) => return Err(Fault::Broken(error.to_string())),
        }
        if let Some(sum) = decoder.get_checksum_from_data()
            && decoder.get_calculated_checksum() != Some(sum)
        {
            return Err(broken("its checksum is wrong"));
        }
    }
    Ok(out)
}

#[cfg(test)]
#[path = "encoding_tests.rs"]
pub(super) mod tests;
