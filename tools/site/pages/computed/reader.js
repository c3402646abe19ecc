/* exported trainReader */
// Lesson 3's model of random digits, with its gradients by hand: `Reader` and `train_reader`, in double precision. Vectors have SIZE
// numbers; a table [n, SIZE] is one array.
const SIZE = 32, PLACES = 8, DIGITS = 10, BATCH = 64, TESTED = 1000;
const RATE = 0.01, BETAS = [0.9, 0.999], EPSILON = 1e-8;               // of Adam
const SLICE = 30;                                                       // milliseconds of work between two looks at the page

function dot(a, i, b, j) {
  let s = 0, t = 0, u = 0, v = 0;                                       // four sums do not wait for one another
  for (let n = 0; n < SIZE; n += 4) {
    s += a[i + n] * b[j + n];
    t += a[i + n + 1] * b[j + n + 1];
    u += a[i + n + 2] * b[j + n + 2];
    v += a[i + n + 3] * b[j + n + 3];
  }
  return s + t + (u + v);
}

function addScaled(sum, i, factor, vectors, j) {
  for (let n = 0; n < SIZE; n++) sum[i + n] += factor * vectors[j + n];
}

// x [n, SIZE] -> [n, outputs], as nn.Linear does; weight [outputs, SIZE].
function linear({ weight, bias }, x) {
  const outputs = bias.values.length, y = new Float64Array((x.length / SIZE) * outputs);
  for (let i = 0; i < y.length; i++) {
    const o = i % outputs;
    y[i] = bias.values[o] + dot(x, ((i - o) / outputs) * SIZE, weight.values, o * SIZE);
  }
  return y;
}

// Adds to the gradients of a linear layer and of its input what the gradient dy of its output gives.
function linearBack({ weight, bias }, x, dx, dy) {
  const outputs = bias.values.length;
  for (let i = 0; i < dy.length; i++) {
    const o = i % outputs, at = ((i - o) / outputs) * SIZE;
    bias.gradients[o] += dy[i];
    addScaled(weight.gradients, o * SIZE, dy[i], x, at);
    addScaled(dx, at, dy[i], weight.values, o * SIZE);
  }
}

// Softmax of scores [PLACES] where the mask is true from `from` on; 0 elsewhere, and everywhere if nothing is visible.
function maskedSoftmax(scores, mask, from) {
  let top = -Infinity, sum = 0;
  for (let key = 0; key < PLACES; key++) if (mask[from + key]) top = Math.max(top, scores[key]);
  const weights = scores.map((score, key) => (mask[from + key] ? Math.exp(score - top) : 0));
  for (const weight of weights) sum += weight;
  return sum ? weights.map((weight) => weight / sum) : weights;
}

// Attention with its residual. Place p of the texts holds the vector rows[p] of x: texts share the vectors that they begin with.
function attend(projections, x, rows, mask) {
  const [q, k, v] = projections.map((projection) => linear(projection, x)), scores = new Float64Array(PLACES);
  const weights = new Float64Array(rows.length * PLACES), y = new Float64Array(rows.length * SIZE);
  for (let place = 0; place < rows.length; place++) {
    const query = place % PLACES, first = place - query, here = rows[place] * SIZE;
    for (let key = 0; key < PLACES; key++) scores[key] = dot(q, here, k, rows[first + key] * SIZE) / Math.sqrt(SIZE);
    weights.set(maskedSoftmax(scores, mask, query * PLACES), place * PLACES);
    addScaled(y, place * SIZE, 1, x, here);
    for (let key = 0; key < PLACES; key++) addScaled(y, place * SIZE, weights[place * PLACES + key], v, rows[first + key] * SIZE);
  }
  return { x, rows, q, k, v, weights, y };
}

// The gradient of x, given that of y; adds to those of the projections.
function attendBack(projections, { x, rows, q, k, v, weights }, dy) {
  const [dx, dq, dk, dv] = [x, q, k, v].map(({ length }) => new Float64Array(length)), dw = new Float64Array(PLACES);
  for (let place = 0; place < rows.length; place++) {
    const first = place - (place % PLACES), here = rows[place] * SIZE, at = place * SIZE;
    let mean = 0;
    addScaled(dx, here, 1, dy, at);
    for (let key = 0; key < PLACES; key++) {
      dw[key] = dot(dy, at, v, rows[first + key] * SIZE);
      mean += weights[place * PLACES + key] * dw[key];
    }
    for (let key = 0; key < PLACES; key++) {
      const there = rows[first + key] * SIZE, weight = weights[place * PLACES + key];
      const ds = (weight * (dw[key] - mean)) / Math.sqrt(SIZE);
      addScaled(dv, there, weight, dy, at);
      addScaled(dq, here, ds, k, there);
      addScaled(dk, there, ds, q, here);
    }
  }
  projections.forEach((projection, i) => linearBack(projection, x, dx, [dq, dk, dv][i]));
  return dx;
}

// A Reader of these parameters, in the order in which torch lists them, and their gradients.
function makeReader(start, numLayers) {
  const values = Float64Array.from(start), gradients = new Float64Array(values.length);
  let at = 0;
  const take = (size) => ({ values: values.subarray(at, at + size), gradients: gradients.subarray(at, (at += size)) });
  const projection = (outputs) => ({ weight: take(outputs * SIZE), bias: take(outputs) });
  const digit = take(DIGITS * SIZE), position = take(PLACES * SIZE);
  const layers = Array.from({ length: numLayers }, () => [SIZE, SIZE, SIZE].map(projection));
  return { values, gradients, digit, position, layers, output: projection(DIGITS) };
}

// Texts of 8 digits and the one after them, as one array -> what each layer computed, last the logits [n * 8, 10].
function read({ digit, position, layers, output }, texts, mask) {
  const n = texts.length / (PLACES + 1), places = [...Array(n * PLACES).keys()];
  let x = new Float64Array(PLACES * DIGITS * SIZE), rows = places.map((p) => (p % PLACES) * DIGITS + texts[p + Math.floor(p / PLACES)]);
  for (let row = 0; row < PLACES * DIGITS; row++) {
    addScaled(x, row * SIZE, 1, digit.values, (row % DIGITS) * SIZE);
    addScaled(x, row * SIZE, 1, position.values, Math.floor(row / DIGITS) * SIZE);
  }
  const attended = layers.map((projections) => {
    const one = attend(projections, x, rows, mask);
    [x, rows] = [one.y, places];
    return one;
  });
  return { attended, logits: linear(output, x), next: places.map((p) => texts[p + Math.floor(p / PLACES) + 1]) };
}

// Turns the logits of each place into probabilities; returns the loss of each.
function crossEntropy({ logits, next }) {
  return next.map((digit, place) => {
    const row = logits.subarray(place * DIGITS, (place + 1) * DIGITS), top = Math.max(...row), loss = top - row[digit];
    let sum = 0;
    row.forEach((logit, i) => { sum += row[i] = Math.exp(logit - top); });
    row.forEach((part, i) => { row[i] = part / sum; });
    return loss + Math.log(sum);
  });
}

// Sets the gradients of the mean loss of these texts.
function setGradients(reader, texts, mask) {
  const pass = read(reader, texts, mask), { attended, logits, next } = pass, x = attended.at(-1).y, { digit, position } = reader;
  let dx = new Float64Array(x.length);
  crossEntropy(pass);
  next.forEach((wanted, place) => { logits[place * DIGITS + wanted] -= 1; });
  reader.gradients.fill(0);
  linearBack(reader.output, x, dx, logits.map((part) => part / next.length));
  for (let layer = attended.length - 1; layer >= 0; layer--) dx = attendBack(reader.layers[layer], attended[layer], dx);
  for (let row = 0; row < PLACES * DIGITS; row++) {
    addScaled(digit.gradients, (row % DIGITS) * SIZE, 1, dx, row * SIZE);
    addScaled(position.gradients, Math.floor(row / DIGITS) * SIZE, 1, dx, row * SIZE);
  }
}

// Adam for these parameters: a function that takes one step by their gradients.
function makeAdam({ values, gradients }) {
  const mean = new Float64Array(values.length), square = new Float64Array(values.length), [b, c] = BETAS;
  let steps = 0;
  return () => {
    steps += 1;
    for (let i = 0; i < values.length; i++) {
      mean[i] = b * mean[i] + (1 - b) * gradients[i];
      square[i] = c * square[i] + (1 - c) * gradients[i] ** 2;
      values[i] -= ((RATE / (1 - b ** steps)) * mean[i]) / (Math.sqrt(square[i] / (1 - c ** steps)) + EPSILON);
    }
  };
}

// Losses [8] and mean weights, [64] of each layer, on texts that training did not see.
function tested(reader, texts, mask, sums) {
  const pass = read(reader, texts, mask);
  crossEntropy(pass).forEach((loss, place) => { sums.losses[place % PLACES] += loss / TESTED; });
  pass.attended.forEach(({ weights }, layer) => weights.forEach((weight, i) => { sums.weights[layer][i % PLACES ** 2] += weight / TESTED; }));
}

// Trains under a mask [64] from the parameters `start` on the digits: batches, and at the end TESTED texts to test on. Between slices
// of work goesOn is told which part of it is done; where it returns false, the result is null.
async function trainReader({ start, digits }, numLayers, mask, goesOn) {
  const reader = makeReader(start, numLayers), step = makeAdam(reader), zeros = (size) => new Float64Array(size);
  const sums = { losses: zeros(PLACES), weights: Array.from({ length: numLayers }, () => zeros(PLACES ** 2)) };
  const texts = digits.length / (PLACES + 1), steps = (texts - TESTED) / BATCH, parts = Math.ceil(texts / BATCH);
  for (let part = 0, until = 0; part < parts; part++) {
    const batch = digits.subarray(part * BATCH * (PLACES + 1), (part + 1) * BATCH * (PLACES + 1));
    if (part < steps) {
      setGradients(reader, batch, mask);
      step();
    } else tested(reader, batch, mask, sums);
    if (window.performance.now() < until) continue;
    if (!goesOn(part / parts)) return null;
    await new Promise((done) => { window.setTimeout(done); });
    until = window.performance.now() + SLICE;
  }
  return sums;
}
