/* exported Transformer, readTensors */
// The Transformer of helpers/transformer.py in plain JavaScript, with the names that it has there: pre-norm, without dropout.
// It reads one text at a time, so that no batch needs an axis. x [T, d_model] is an array of T vectors, each a Float32Array.
// ---- The weights

// The tensors of a safetensors file by name, each an array of its rows; a vector is its only row.
function readTensors(bytes) {
  const start = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const read = ([name, { dtype, shape, data_offsets: [from, to] }]) => {
    const part = bytes.buffer.slice(start + from, start + to), size = shape.at(-1);
    const numbers = dtype === "F16" ? fromHalf(new Uint16Array(part)) : new Float32Array(part);
    return [name, Array.from({ length: numbers.length / size }, (_, i) => numbers.subarray(i * size, (i + 1) * size))];
  };
  delete header.__metadata__;
  return Object.fromEntries(Object.entries(header).map(read));
}

// Numbers in half precision: a bit of sign, 5 of exponent, 10 of fraction.
const HALVES = Float32Array.from({ length: 65536 }, (_, bits) => {
  const exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
  return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
});

const fromHalf = (halves) => new Float32Array(halves).map((bits) => HALVES[bits]);

// ---- Vectors

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const add = (a, b) => a.map((number, i) => number + b[i]);

function softmax(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b)), powers = scores.map((score) => Math.exp(score - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

// ---- The layers

class Linear {
  constructor({ tensors }, name) {
    this.weight = tensors[`${name}.weight`];                               // [out_features, in_features]
    this.bias = tensors[`${name}.bias`]?.[0] ?? new Float32Array(this.weight.length);
  }

  forward(x) { return x.map((vector) => this.bias.map((bias, i) => bias + dot(this.weight[i], vector))); }
}

class LayerNorm {
  constructor({ tensors }, name) { [[this.weight], [this.bias]] = [tensors[`${name}.weight`], tensors[`${name}.bias`]]; }

  forward(x) {
    return x.map((vector) => {
      const mean = vector.reduce((a, b) => a + b) / vector.length, centred = vector.map((number) => number - mean);
      const deviation = Math.sqrt(dot(centred, centred) / vector.length + 1e-5);
      return centred.map((number, i) => (number / deviation) * this.weight[i] + this.bias[i]);
    });
  }
}

class MultiHeadAttention {
  constructor(parts, name) {
    Object.assign(this, { name, num_heads: parts.num_heads, hook: parts.hook });
    for (const proj of ["q_proj", "k_proj", "v_proj", "out_proj"]) this[proj] = new Linear(parts, `${name}.${proj}`);
  }

  // query [T_q, d_model], key [T_k, d_model] to [T_q, d_model]; the values are projected from what the keys are.
  forward(query, key, cache) {
    const [k, v] = this.keys_and_values(query, key, cache), first = cache?.length ?? 0;
    return this.out_proj.forward(this.q_proj.forward(query).map((q, i) => this.attend(q, k, v, first + i)));
  }

  // With a cache, self-attention adds the new tokens to those before them, and cross-attention projects the memory once.
  keys_and_values(query, key, cache) {
    const projected = () => [this.k_proj.forward(key), this.v_proj.forward(key)];
    if (!cache) return projected();
    return key === query ? cache.append(this, ...projected()) : cache.get(this) ?? cache.append(this, ...projected());
  }

  // One query q [d_model]: each head has its own part of the numbers, d_head of them.
  attend(q, k, v, query) {
    const d_head = q.length / this.num_heads, output = new Float32Array(q.length);
    for (let head = 0; head < this.num_heads; head++) {
      const from = head * d_head, part = (vector) => vector.subarray(from, from + d_head), q_head = part(q);
      const scores = Float32Array.from(k, (vector) => dot(q_head, part(vector)) / Math.sqrt(d_head));       // [T_k]
      const weights = this.hook.attention_weights({ name: this.name, head, query, weights: softmax(scores) });
      weights.forEach((weight, key) => {
        for (let i = from; i < from + d_head; i++) output[i] += weight * v[key][i];
      });
    }
    return output;
  }
}

class FeedForward {
  constructor(parts, name) { [this.up, this.down] = ["up", "down"].map((half) => new Linear(parts, `${name}.${half}`)); }

  forward(x) { return this.down.forward(this.up.forward(x).map((vector) => vector.map((number) => Math.max(number, 0)))); }
}

class Residual {
  constructor(parts, name) { this.norm = new LayerNorm(parts, `${name}.norm`); }

  forward(x, layer) {
    const y = layer(this.norm.forward(x));
    return x.map((vector, t) => add(vector, y[t]));
  }
}

// A layer of the encoder or, with cross-attention, of the decoder.
class Layer {
  constructor(parts, name) {
    this.self_attn = new MultiHeadAttention(parts, `${name}.self_attn`);
    if (name.startsWith("decoder")) this.cross_attn = new MultiHeadAttention(parts, `${name}.cross_attn`);
    this.feed_forward = new FeedForward(parts, `${name}.feed_forward`);
    this.residuals = [0, 1, ...(this.cross_attn ? [2] : [])].map((i) => new Residual(parts, `${name}.residuals.${i}`));
  }

  forward(x, cache) {
    let y = this.residuals[0].forward(x, (normed) => this.self_attn.forward(normed, normed, cache));
    if (this.cross_attn) y = this.residuals[1].forward(y, (normed) => this.cross_attn.forward(normed, cache.memory, cache));
    return this.residuals.at(-1).forward(y, (normed) => this.feed_forward.forward(normed));
  }
}

class Stack {
  constructor(parts, name) {
    this.layers = Array.from({ length: parts.num_layers }, (_, i) => new Layer(parts, `${name}.layers.${i}`));
    this.norm = new LayerNorm(parts, `${name}.norm`);
  }

  forward(x, cache) { return this.norm.forward(this.layers.reduce((y, layer) => layer.forward(y, cache), x)); }
}

class Embedding {
  constructor({ tensors, base }, name) { Object.assign(this, { rows: tensors[`${name}.tokens.weight`], base }); }

  // Columns 2i and 2i + 1 of the positions are the sine and the cosine of position / base^(2i / d_model).
  forward(ids, offset = 0) {
    return ids.map((id, t) => this.rows[id].map((number, i, { length }) => {
      const angle = (offset + t) * this.base ** (-(i - (i % 2)) / length);
      return number * Math.sqrt(length) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
    }));
  }
}

// ---- The model

// What the decoder keeps from step to step: the keys and values of the tokens so far, by attention.
class KVCache {
  constructor(memory) { Object.assign(this, { memory, length: 0, kept: new Map() }); }

  get(attention) { return this.kept.get(attention); }

  append(attention, k, v) {
    const [before_k, before_v] = this.get(attention) ?? [[], []];
    this.kept.set(attention, [[...before_k, ...k], [...before_v, ...v]]);
    return this.get(attention);
  }
}

class Transformer {
  constructor(tensors, { num_heads, base }) {
    const num_layers = Object.keys(tensors).filter((name) => /^encoder\.layers\.\d+\.self_attn\.q_proj\.weight/.test(name)).length;
    this.hook = { attention_weights: ({ weights }) => weights };           // sees all weights; what it returns takes their place
    const parts = { tensors, num_heads, num_layers, base, hook: this.hook };
    [this.encoder, this.decoder] = ["encoder", "decoder"].map((name) => new Stack(parts, name));
    this.tgt_embed = new Embedding(parts, "tgt_embed");
    this.src_embed = tensors["src_embed.tokens.weight"] ? new Embedding(parts, "src_embed") : this.tgt_embed;
    this.output = new Linear({ tensors: { "output.weight": this.tgt_embed.rows, ...tensors } }, "output");
  }

  // A cache that holds the source, and no token of the target.
  start(src) { return new KVCache(this.encoder.forward(this.src_embed.forward(src))); }

  // The logits after the next token, which joins those in the cache. They are all before it, so that no mask is needed.
  step(id, cache) {
    const x = this.decoder.forward(this.tgt_embed.forward([id], cache.length), cache);
    cache.length += 1;
    return this.output.forward(x)[0];
  }
}
