//! What the user and the agent say to each other.

/// One block of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, in Markdown.
    Text(String),
    /// A picture.
    Image {
        /// Its type, such as `image/png`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A sound.
    Audio {
        /// Its type.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A pointer to something the agent can read by itself.
    Link {
        /// Where it is.
        uri: String,
        /// What to call it.
        name: String,
    },
    /// Something with its text.
    Resource {
        /// Where it comes from.
        uri: String,
        /// The text.
        text: String,
        /// Its type.
        mime: Option<String>,
    },
    /// Something with its bytes.
    Blob {
        /// Where it comes from.
        uri: String,
        /// The bytes in base64.
        data: String,
        /// Its type.
        mime: Option<String>,
    },
    /// A kind of content this client does not know; only its name is kept.
    Unknown(String),
}

impl Content {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        match self {
            Content::Text(text) | Content::Unknown(text) => text.len(),
            Content::Image { mime, data } | Content::Audio { mime, data } => {
                mime.len() + data.len()
            }
            Content::Link { uri, name } => uri.len() + name.len(),
            Content::Resource { uri, text, .. } => uri.len() + text.len(),
            Content::Blob { uri, data, .. } => uri.len() + data.len(),
        }
    }

    /// Whether it can be opened or saved.
    pub fn is_attachment(&self) -> bool {
        !matches!(self, Content::Text(_) | Content::Link { .. } | Content::Unknown(_))
    }
}

/// The text of a message as the chat shows it: what is not text is named in brackets.
pub fn plain_text(content: &[Content]) -> String {
    let mut text = String::new();
    for block in content {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        append_plain(&mut text, block);
    }
    text
}

/// Adds one block to the text of a message.
pub fn append_plain(text: &mut String, content: &Content) {
    match content {
        Content::Text(more) => text.push_str(more),
        Content::Image { mime, data } => line(text, &format!("[image: {mime}, {}]", size(data))),
        Content::Audio { mime, data } => line(text, &format!("[audio: {mime}, {}]", size(data))),
        Content::Link { uri, name } => line(text, &format!("[{name}]({uri})")),
        Content::Resource { uri, .. } => line(text, &format!("[{uri}]")),
        Content::Blob { uri, data, .. } => line(text, &format!("[{uri}, {}]", size(data))),
        Content::Unknown(kind) => line(text, &format!("[{kind}]")),
    }
}

/// Adds words that are one line, whatever they are made of.
fn line(text: &mut String, words: &str) {
    text.extend(words.chars().map(|it| if it.is_control() { ' ' } else { it }));
}

/// The size of base64 data, for people.
fn size(base64: &str) -> String {
    let bytes = base64.len() / 4 * 3;
    if bytes < 1024 { format!("{bytes} B") } else { format!("{} kB", bytes / 1024) }
}
