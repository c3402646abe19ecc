/* global Transformer, readTensors */
/* exported readerOf */
// What a page asks of a model: ids of a text, the answer, and the answer without some of the weights.
const PAD = 0, UNK = 1, BOS = 2, EOS = 3, SPECIAL = ["<pad>", "<unk>", "<bos>", "<eos>"];
const LOOKALIKES = { "‘": "'", "’": "'", "‐": "-", "–": "-", "—": "-", "−": "-" };

// Dates: a token is a character. Lower case, single spaces, one character for those that look alike, as helpers/data/dates.py has it.
class Characters {
  // What Python takes for a space differs from \s.
  split(text) {
    const plain = text.normalize("NFKC").replace(/[‘’‐–—−]/g, (character) => LOOKALIKES[character]).toLowerCase();
    return [...plain.replace(/[\t-\r\x1c-\x20\x85\xa0\u1680\u2028\u2029]+/g, " ").replace(/^ | $/g, "")];
  }

  join(tokens) { return tokens.join(""); }
}

// Sentences: subwords of byte pair encoding, a ▁ for each space, as helpers/pretrained/translator.py has it.
class Subwords {
  constructor(merges) { this.ranks = new Map(merges.map((pair, rank) => [pair, rank])); }

  split(text) {
    return text.split(/(<pad>|<unk>|<bos>|<eos>)/).flatMap((part) => {
      if (!part || SPECIAL.includes(part)) return part || [];
      const plain = part.normalize("NFC").replaceAll("’", "'").toLowerCase().replaceAll(" ", "▁");
      return (plain.startsWith("▁") ? plain : `▁${plain}`).split(/(?=▁)/).flatMap((word) => this.merged([...word]));
    });
  }

  // The pair that was learned first is joined first. None has punctuation in it: Python splits there, before and after learning.
  merged(parts) {
    const rankAt = (i) => this.ranks.get(`${parts[i]} ${parts[i + 1]}`) ?? Infinity;
    for (;;) {
      const best = parts.reduce((found, _, i) => (rankAt(i) < rankAt(found) ? i : found), 0);
      if (rankAt(best) === Infinity) return parts;
      parts.splice(best, 2, parts[best] + parts[best + 1]);
    }
  }

  join(tokens) { return tokens.filter((token) => !SPECIAL.includes(token)).join("").replace(/^▁/, "").replaceAll("▁", " "); }
}

// A model that ships, and its tokens. unit: what a token is; longest, max_len: how many it reads, and writes.
class Reader {
  constructor({ weights, num_heads, base, source, target, merges, unit, longest, max_len, example }) {
    Object.assign(this, { target, unit, longest, max_len, example });
    this.model = new Transformer(readTensors(weights), { num_heads, base });
    this.tokenizer = merges ? new Subwords(merges) : new Characters();
    this.index = new Map(source.map((token, id) => [token, id]));
  }

  // { tokens, ids, unknown, trouble }: unknown are the tokens that the vocabulary lacks, trouble says why there is no answer.
  read(text) {
    const tokens = this.tokenizer.split(text), ids = tokens.map((token) => this.index.get(token) ?? UNK);
    const unknown = [...new Set(tokens.filter((_, i) => ids[i] === UNK))];
    const fits = tokens.length >= 1 && tokens.length <= this.longest;
    return { tokens, ids, unknown, trouble: fits ? "" : `${tokens.length} ${this.unit}: ${this.example}` };
  }

  // The likeliest token at every step, up to <eos>: [{ token, logs, maps }, ...] for source ids.
  // logs: the log-probabilities of all tokens; log: that of this one; maps: cross-attention's rows, [layer][head][T_src].
  // cuts: weights { layer, head, query, key } that are set to 0, after which the row is divided by what is left of it.
  answer(ids, cuts = []) {
    const steps = [], cache = this.model.start(ids);
    let maps;
    this.model.hook.attention_weights = ({ name, head, query, weights }) => {
      if (!name.endsWith("cross_attn")) return weights;
      const layer = Number(name.match(/\d+/)[0]);
      const kept = cuts.filter((cut) => cut.layer === layer && cut.head === head && cut.query === query).reduce(without, weights);
      (maps[layer] ??= [])[head] = kept;
      return kept;
    };
    for (let id = BOS; steps.length < this.max_len;) {
      maps = [];
      const logs = logSoftmax(this.model.step(id, cache));
      id = likeliest(logs);
      if (id === EOS) break;
      steps.push({ id, token: this.target[id], logs, maps });
    }
    return steps;
  }

  text(steps) { return this.tokenizer.join(steps.map(({ token }) => token)); }
}

function without(weights, { key }) {
  const rest = weights.map((weight, i) => (i === key ? 0 : weight)), sum = rest.reduce((a, b) => a + b) || 1;
  return rest.map((weight) => weight / sum);
}

function logSoftmax(logits) {
  const most = logits.reduce((a, b) => Math.max(a, b)), sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return logits.map((logit) => logit - most - Math.log(sum));
}

// Padding is not a token.
const likeliest = (logs) => logs.reduce((best, log, id) => (id !== PAD && log > logs[best] ? id : best), UNK);

// From what a script with weights brings: base64 of a file that gzip made small.
async function readerOf(values) {
  const packed = new Blob([bytesOf(values.weights)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Reader({ ...values, weights: new Uint8Array(await new Response(packed).arrayBuffer()) });
}

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
