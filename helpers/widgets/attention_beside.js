// What stands beside the weights: the switch to their effects, the changes of the model, the neuron view; and its keys.
import { makeShows, otherNumber } from "./attention_effect.js";
import { makeNeuron } from "./attention_neuron.js";
import { Chosen, makeTouch } from "./attention_touch.js";

const OF_A_CELL = ["c", "f", "o"];                    // keys that change the model at the cell which is shown

// again(): the map has to be drawn anew, from other numbers.
export function makeBeside(model, weights, again) {
  const chosen = new Chosen(model), shows = makeShows(model, again), neuron = makeNeuron(model, chosen);
  const touch = makeTouch(model, chosen, neuron.button);
  weights.beside = (cell) => otherNumber(model, chosen, cell);
  const press = (event) => {
    if (event.target.matches("input[type=text]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (OF_A_CELL.includes(event.key) && model.get("can_change") && !weights.locked) weights.choose({ ...weights.shown, locked: true });
    if (touch.press(event.key) || neuron.press(event.key)) event.preventDefault();
  };
  const stop = () => [shows, neuron, touch].forEach((part) => part.stop());
  return { shows: shows.node, touch: touch.node, neuron: neuron.node, press, stop };
}
