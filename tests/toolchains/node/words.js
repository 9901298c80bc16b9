// The number of words in a text.
exports.countWords = (text) => text.split(/\s+/).filter(Boolean).length;
