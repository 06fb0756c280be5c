//! Client frames put together to messages (RFC 6455, section 5), and where frames of the other side end.
//!
//! Whatever a server could read otherwise than we do is a fault: reserved bits and opcodes, frames without a mask, lengths that
//! are not written the shortest way, control frames that are fragmented or too long, fragments out of order, anything behind a
//! close. No extension is negotiated, so that no payload is compressed.

use std::io::Cursor;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// Headers of the fragments of one message may take so many bytes on top of its payload.
const MAX_HEADERS: usize = 64 << 10;

/// What the client sent, in the order in which it may be passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A ping, pong or close, as it was sent.
    Control(Vec<u8>),
    /// A whole message.
    Message {
        /// Its frames as they were sent, without the control frames between them.
        frames: Vec<u8>,
        /// Unmasked and put together.
        payload: Vec<u8>,
        /// Whether it is text, or binary.
        is_text: bool,
    },
}

/// Reads the frames of a client.
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    /// Arrived and not yet a whole frame.
    held: Vec<u8>,
    message: Option<Partial>,
    closed: bool,
}

/// A message of which fragments are still to come.
#[derive(Debug)]
struct Partial {
    frames: Vec<u8>,
    payload: Vec<u8>,
    is_text: bool,
}

impl Reader {
    /// A reader of messages whose payload has `limit` bytes at most.
    pub fn new(limit: usize) -> Self {
        Self { limit, held: Vec::new(), message: None, closed: false }
    }

    /// Takes bytes as they arrive.
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }

    /// Whether a frame or a message is not there whole.
    pub fn is_within_message(&self) -> bool {
        !self.held.is_empty() || self.message.is_some()
    }

    /// The next control frame or message; `None` when more bytes are needed.
    ///
    /// # Errors
    /// Why what arrived cannot be judged, as early as its header shows it.
    pub fn next_unit(&mut self) -> Result<Option<Unit>, String> {
        while let Some((header, start, length)) = self.header()? {
            let end = start + length;
            if self.held.len() < end {
                return Ok(None);
            }
            let rest = self.held.split_off(end);
            let frame = std::mem::replace(&mut self.held, rest);
            match header.opcode {
                OpCode::Control(control) => {
                    self.closed |= control == Control::Close;
                    return Ok(Some(Unit::Control(frame)));
                }
                OpCode::Data(data) => {
                    let mut message = self.message.take().unwrap_or(Partial {
                        frames: Vec::new(),
                        payload: Vec::new(),
                        is_text: data == Data::Text,
                    });
                    let mask = header.mask.unwrap_or_default();
                    let masked = frame.get(start..).unwrap_or_default();
                    message
                        .payload
                        .extend(masked.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
                    message.frames.extend(frame);
                    if header.is_final {
                        let Partial { frames, payload, is_text } = message;
                        return Ok(Some(Unit::Message { frames, payload, is_text }));
                    }
                    if message.frames.len() - message.payload.len() > MAX_HEADERS {
                        return Err("it has too many fragments".into());
                    }
                    self.message = Some(message);
                }
            }
        }
        Ok(None)
    }

    /// The checked header of the next frame, where its payload starts and how long that is.
    fn header(&self) -> Result<Option<(FrameHeader, usize, usize)>, String> {
        if self.held.is_empty() {
            return Ok(None);
        }
        if self.closed {
            return Err("bytes follow a close frame".into());
        }
        let mut cursor = Cursor::new(self.held.as_slice());
        let (header, length) = match FrameHeader::parse(&mut cursor) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return Ok(None),
            Err(_) => return Err("a frame with a reserved opcode".into()),
        };
        let start = usize::try_from(cursor.position()).unwrap_or(usize::MAX);
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err("a frame with reserved bits".into());
        }
        if header.mask.is_none() {
            return Err("a client frame without a mask".into());
        }
        if header.len(length) != start {
            return Err("a frame whose length is not written the shortest way".into());
        }
        let before = self.message.as_ref().map(|message| message.payload.len());
        match header.opcode {
            OpCode::Control(_) if !header.is_final => return Err("a control frame in fragments".into()),
            OpCode::Control(_) if length > 125 => return Err("a control frame that is too long".into()),
            OpCode::Control(Control::Close) if length == 1 => {
                return Err("a close frame with half a code".into());
            }
            OpCode::Control(_) => {}
            OpCode::Data(Data::Continue) if before.is_none() => {
                return Err("a continuation without a message".into());
            }
            OpCode::Data(Data::Text | Data::Binary) if before.is_some() => {
                return Err("a message within a message".into());
            }
            OpCode::Data(_) => {}
        }
        match usize::try_from(length) {
            Ok(length)
                if length <= self.limit.saturating_sub(before.unwrap_or(0))
                    || length <= 125 && before.is_none() =>
            {
                Ok(Some((header, start, length)))
            }
            _ => Err(format!("it is longer than {} bytes", self.limit)),
        }
    }
}

/// Follows the frames of a server, to know where one ends. Nothing of them is judged.
#[derive(Debug, Default)]
pub struct Boundary {
    header: Vec<u8>,
    /// Bytes of the payload that are still to come.
    left: u64,
}

impl Boundary {
    /// Walks over bytes that are passed on.
    pub fn walk(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let step = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            self.left -= step as u64;
            bytes = bytes.get(step..).unwrap_or_default();
            let Some((byte, rest)) = bytes.split_first() else { return };
            self.header.push(*byte);
            bytes = rest;
            if let Some(length) = payload_length(&self.header) {
                self.left = length;
                self.header.clear();
            }
        }
    }

    /// Whether the next byte begins a frame.
    pub fn is_between_frames(&self) -> bool {
        self.header.is_empty() && self.left == 0
    }

    /// How many bytes of `bytes` belong to the frame that is under way.
    pub fn rest_of_frame(&self, bytes: &[u8]) -> usize {
        let mut ahead = Self { header: self.header.clone(), left: self.left };
        let mut at = 0;
        while !ahead.is_between_frames() {
            let Some(byte) = bytes.get(at..=at) else { break };
            ahead.walk(byte);
            at += 1;
        }
        at
    }
}

/// The length of the payload, once the header is whole.
fn payload_length(header: &[u8]) -> Option<u64> {
    let second = *header.get(1)?;
    let extended = match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let masked = usize::from(second & 0x80 != 0) * 4;
    let field = header.get(2..2 + extended)?;
    header.get(..2 + extended + masked)?;
    Some(match extended {
        0 => u64::from(second & 0x7f),
        _ => field.iter().fold(0, |length, byte| length << 8 | u64::from(*byte)),
    })
}

/// A close frame; from a client it is masked, as the protocol demands.
pub fn close(code: u16, reason: &str, masked: bool) -> Vec<u8> {
    // At most 125 bytes: a control frame holds no more.
    let end = (0..=reason.len().min(123)).rev().find(|at| reason.is_char_boundary(*at)).unwrap_or(0);
    let payload = [&code.to_be_bytes()[..], reason.get(..end).unwrap_or_default().as_bytes()].concat();
    let length = u8::try_from(payload.len()).unwrap_or(0);
    let mut frame = vec![0x88, length | if masked { 0x80 } else { 0 }];
    if masked {
        // A key of zeros leaves the payload as it is.
        frame.extend([0; 4]);
    }
    frame.extend(payload);
    frame
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
