//! Bytes to text, however the bytes are cut: a character whose second half has not come yet waits
//! for it; what is no UTF-8 becomes U+FFFD.

/// Decodes a stream.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character: at most three bytes.
    partial: Vec<u8>,
}

impl Decoder {
    /// The text that is complete now.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> String {
        let joined;
        let mut rest = bytes;
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.partial);
            rest = &joined;
        }
        let mut text = String::with_capacity(rest.len());
        let mut chunks = rest.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let last = chunks.peek().is_none();
            if last && may_go_on(chunk.invalid()) {
                self.partial = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// The stream has ended: half a character is none.
    pub(super) fn finish(&mut self) -> String {
        let partial = std::mem::take(&mut self.partial);
        String::from_utf8_lossy(&partial).into_owned()
    }
}

/// Whether these bytes, at the end of the input, could become a character.
fn may_go_on(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(chunks: &[&[u8]]) -> String {
        let mut decoder = Decoder::default();
        let mut text: String = chunks.iter().map(|chunk| decoder.feed(chunk)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn a_character_in_pieces() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"a\xe6\x97"), "a");
        assert_eq!(decoder.feed(b""), "");
        assert_eq!(decoder.feed(b"\xa5b"), "日b");
        assert_eq!(decode(&[b"\xf0", b"\x9f", b"\x98", b"\x80"]), "😀");
    }

    #[test]
    fn what_is_no_character() {
        assert_eq!(decode(&[b"\xe6\x97", b"x"]), "\u{fffd}x");
        assert_eq!(decode(&[b"\xff\xfe", b"\xe6"]), "\u{fffd}\u{fffd}\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_text(
            bytes in prop::collection::vec(
                prop::sample::select(b"a\xe6\x97\xa5\xf0\x9f\x98\x80\xff\xc3".to_vec()), 0..40),
            cuts in prop::collection::vec(0usize..40, 0..10),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&chunks), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
