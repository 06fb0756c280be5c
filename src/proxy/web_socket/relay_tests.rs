use super::*;
use tokio::io::{DuplexStream, duplex};

/// Refuses what contains "no".
struct Strict;

impl Judging for Strict {
    fn limit(&self) -> usize {
        1000
    }

    fn judge(&self, message: &Message<'_>) -> Result<Option<Permit>, Refused> {
        match message {
            Message::Text(b"no") | Message::Unjudgeable(_) => Err(Refused),
            _ => Ok(None),
        }
    }
}

/// Nothing waits so long when it need not.
const LONG: Duration = Duration::from_secs(60);

const SHORT: Duration = Duration::from_millis(50);

/// The far ends of a socket that is relayed, and the relay.
fn relayed(room: usize, parting: Duration) -> (DuplexStream, DuplexStream, impl Future<Output = ()>) {
    let (client, near_client) = duplex(room);
    let (near_origin, origin) = duplex(room);
    let relay = async move {
        let (from_client, to_client) = split(near_client);
        let (from_origin, to_origin) = split(near_origin);
        let refused = CancellationToken::new();
        tokio::join!(
            up(from_client, to_origin, &Strict, &refused, parting),
            down(from_origin, to_client, &refused, parting)
        );
    };
    (client, origin, relay)
}

const NO: [u8; 8] = [0x81, 0x82, 0, 0, 0, 0, b'n', b'o'];

async fn all(stream: &mut DuplexStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn a_close_waits_for_the_end_of_the_origins_frame() {
    let (mut client, mut origin, relay) = relayed(4096, LONG);
    let talk = async {
        origin.write_all(&[0x82, 4, 1, 2]).await.unwrap();
        client.read_exact(&mut [0; 4]).await.unwrap();
        client.write_all(&NO).await.unwrap();
        let mut told = close(1008, "", true);
        origin.read_exact(&mut told).await.unwrap();
        assert_eq!(told, close(1008, "", true));
        // What follows the frame is not passed on.
        origin.write_all(&[3, 4, 0x81, 1, b'x']).await.unwrap();
        let told = all(&mut client).await;
        assert_eq!(told, [&[3, 4][..], &close(1008, "blocked by qa-pilot", false)].concat());
        assert_eq!(all(&mut origin).await, b"");
        drop(client);
    };
    tokio::join!(relay, talk);
}

#[tokio::test]
async fn neither_a_silent_origin_nor_a_deaf_client_keeps_a_refused_socket_open() {
    let (mut client, mut origin, relay) = relayed(16, SHORT);
    let talk = async {
        origin.write_all(&[0x82, 100, 1, 2]).await.unwrap();
        client.write_all(&NO).await.unwrap();
        // A frame cannot be put into another one, so that there is none here.
        assert_eq!(all(&mut client).await, [0x82, 100, 1, 2]);
    };
    tokio::join!(relay, talk);
    let (mut client, mut origin, relay) = relayed(16, SHORT);
    let flood = async {
        client.write_all(&NO).await.unwrap();
        while origin.write_all(&[0x82, 0]).await.is_ok() {}
    };
    tokio::join!(relay, flood);
    drop(client);
}

#[tokio::test]
async fn the_end_of_either_side_reaches_the_other() {
    let (mut client, mut origin, relay) = relayed(4096, LONG);
    let talk = async {
        client.write_all(&[0x89, 0x80, 0, 0, 0, 0]).await.unwrap();
        client.shutdown().await.unwrap();
        assert_eq!(all(&mut origin).await, [0x89, 0x80, 0, 0, 0, 0]);
        origin.write_all(&[0x8a, 0]).await.unwrap();
        origin.shutdown().await.unwrap();
        assert_eq!(all(&mut client).await, [0x8a, 0]);
    };
    tokio::join!(relay, talk);
}
