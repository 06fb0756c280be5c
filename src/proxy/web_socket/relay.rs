//! Copying between client and origin once the socket is open.

use super::frames::{Boundary, Reader, Unit, close};
use crate::policy::{Message, Permit};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The status of a close that a message's content caused (RFC 6455, section 7.4.1).
const POLICY_VIOLATION: u16 = 1008;

/// How long the end of a refused socket may take: the rest of a frame from the origin, and the client's own close.
const PARTING: Duration = Duration::from_secs(2);

const CHUNK: usize = 16 << 10;

/// Decides about the client's messages, and records what it decided.
pub(in crate::proxy) trait Judging {
    /// The longest payload of a message in bytes.
    fn limit(&self) -> usize;

    /// Leave to pass a message on; `Ok(None)` swallows it. A refusal was recorded.
    fn judge(&self, message: &Message<'_>) -> Result<Option<Permit>, Refused>;
}

/// The message does not pass, and neither does any later one.
#[derive(Debug)]
pub(in crate::proxy) struct Refused;

/// Why copying from the client ends.
enum End {
    Refused,
    Broken,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

impl From<Refused> for End {
    fn from(_: Refused) -> Self {
        Self::Refused
    }
}

/// Copies bytes both ways.
pub(in crate::proxy) async fn relay_raw(client: Upgraded, origin: Upgraded) {
    // Either side may break off at any time; the other one then sees the end.
    let _ = tokio::io::copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(origin)).await;
}

/// Copies the origin's bytes as they come, and the client's message by message. One that is refused ends both sides.
pub(in crate::proxy) async fn relay_judged(client: Upgraded, origin: Upgraded, judging: impl Judging) {
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_origin, to_origin) = split(TokioIo::new(origin));
    let refused = CancellationToken::new();
    tokio::join!(
        up(from_client, to_origin, &judging, &refused, PARTING),
        down(from_origin, to_client, &refused, PARTING)
    );
}

/// Client to origin. Errors need no words: the other side sees the end.
async fn up(
    mut client: impl AsyncRead + Unpin,
    mut origin: impl AsyncWrite + Unpin,
    judging: &impl Judging,
    refused: &CancellationToken,
    parting: Duration,
) {
    let mut reader = Reader::new(judging.limit());
    let mut chunk = vec![0; CHUNK];
    let end = loop {
        let length = client.read(&mut chunk).await.unwrap_or(0);
        if length == 0 {
            if reader.is_within_message() {
                // It was not passed on; that it came is recorded.
                let _ = judging.judge(&Message::Unjudgeable("the connection ended within it"));
            }
            break End::Broken;
        }
        reader.push(chunk.get(..length).unwrap_or_default());
        if let Err(end) = pass_on(&mut reader, &mut origin, judging).await {
            break end;
        }
    };
    if matches!(end, End::Refused) {
        refused.cancel();
        let _ = timeout(parting, origin.write_all(&close(POLICY_VIOLATION, "", true))).await;
    }
    let _ = timeout(parting, origin.shutdown()).await;
    if matches!(end, End::Refused) {
        // Bytes that nobody read would reset the connection, and the client would not see why it was closed.
        let _ = timeout(parting, async { while let Ok(1..) = client.read(&mut chunk).await {} }).await;
    }
}

/// Passes on what is whole and may pass.
async fn pass_on(
    reader: &mut Reader,
    origin: &mut (impl AsyncWrite + Unpin),
    judging: &impl Judging,
) -> Result<(), End> {
    loop {
        match reader.next_unit() {
            Ok(None) => return Ok(origin.flush().await?),
            Ok(Some(Unit::Control(frame))) => origin.write_all(&frame).await?,
            Ok(Some(Unit::Message { frames, payload, is_text })) => {
                let message = if is_text { Message::Text(&payload) } else { Message::Binary(&payload) };
                if let Some(permit) = judging.judge(&message)? {
                    send(permit, origin, &frames).await?;
                }
            }
            Err(fault) => {
                judging.judge(&Message::Unjudgeable(&fault))?;
                return Err(End::Refused);
            }
        }
    }
}

/// No message gets here that was not judged.
async fn send(_permit: Permit, origin: &mut (impl AsyncWrite + Unpin), frames: &[u8]) -> io::Result<()> {
    origin.write_all(frames).await
}

/// Origin to client.
async fn down(
    mut origin: impl AsyncRead + Unpin,
    mut client: impl AsyncWrite + Unpin,
    refused: &CancellationToken,
    parting: Duration,
) {
    let mut boundary = Boundary::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = tokio::select! {
            biased;
            () = refused.cancelled() => break,
            read = origin.read(&mut chunk) => read.unwrap_or(0),
        };
        let bytes = chunk.get(..length).unwrap_or_default();
        boundary.walk(bytes);
        let write = async {
            client.write_all(bytes).await?;
            client.flush().await
        };
        // A client that reads nothing does not keep a refused socket open.
        let stuck = async {
            refused.cancelled().await;
            tokio::time::sleep(parting).await;
        };
        let written = tokio::select! {
            written = write => written.is_ok(),
            () = stuck => false,
        };
        if length == 0 || !written {
            let _ = timeout(parting, client.shutdown()).await;
            return;
        }
    }
    let farewell = async {
        while !boundary.is_between_frames() {
            let length = origin.read(&mut chunk).await?;
            let bytes = chunk.get(..length).unwrap_or_default();
            let rest = bytes.get(..boundary.rest_of_frame(bytes)).unwrap_or_default();
            if rest.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            boundary.walk(rest);
            client.write_all(rest).await?;
        }
        client.write_all(&close(POLICY_VIOLATION, "blocked by qa-pilot", false)).await?;
        client.flush().await
    };
    let _ = timeout(parting, farewell).await;
    let _ = timeout(parting, client.shutdown()).await;
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
