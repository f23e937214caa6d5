// How values of heads become colours: one scale for all heads, or one for each; from the least
// to the greatest where all have one sign, else about 0. Infinite and undefined values have a
// colour of their own.
import {scaleOf} from '../colours.js';
import {h, swatchOf} from '../dom.js';
import {brief, reachOf, shortest} from '../numbers.js';
import {scaleBar} from './heatmap_panel.js';

// The scale of some arrays, and their reach.
function scaleFor(colours, arrays, reach) {
    const scale = scaleOf(colours, [reach]);
    const infinite = arrays.some((data) => data.some((value) => !Number.isFinite(value)));
    const first = arrays[0]?.[0];
    const constant = arrays.every((data) => data.every((value) => value === first))
        ? first
        : null;
    const word = scale.invented ? () => colours.flatWord : scale.word;
    return {
        ...scale,
        infinite,
        constant,
        word: (value) => (Number.isFinite(value) ? word(value) : colours.missingWord),
    };
}

const union = (reaches) => reachOf(reaches.filter(Boolean).flat()) ?? [0, 0];
const aboutZero = ([least, most]) => {
    const reach = Math.max(-least, most);
    return [-reach, reach];
};

// Gives each of the sets that are compared `scaleAt(index)`: the scale of that head.
export function addScales(colours, sets, indices, each) {
    const arraysOf = (index) => sets.map(({planes}) => planes.get(index)).filter(Boolean);
    const wide = sets.some(({difference}) => difference) ? aboutZero : (reach) => reach;
    const shared = each
        ? null
        : scaleFor(
              colours,
              indices.flatMap(arraysOf),
              wide(union(sets.map(({extent}) => extent))),
          );
    const scales = new Map(
        indices.map((index) => [
            index,
            shared ??
                scaleFor(colours, arraysOf(index), wide(union(arraysOf(index).map(reachOf)))),
        ]),
    );
    for (const set of sets) Object.assign(set, {scaleAt: (index) => scales.get(index), shared});
}

const infiniteKey = ({missing}) => [swatchOf('heads-swatch', missing), 'infinite or undefined'];

// What the colours of a set mean.
export function legendOf(set, indices, title, colours) {
    const scales = indices.map(set.scaleAt);
    const infinite = scales.some((scale) => scale.infinite) ? infiniteKey(colours) : [];
    const {shared} = set;
    const said = set.identical
        ? 'A and B are identical'
        : !shared
          ? `${title}: each ${set.title} from its least to its greatest value`
          : shared.constant !== null
            ? `${title}: each value is ${shortest(set.dtype, shared.constant)}`
            : shared.invented
              ? `${title}: each finite value is ${brief(shared.domain[0] + 0.5)}`
              : '';
    const legend = said ? h('span', {class: 'scale'}, said) : scaleBar(shared, `${title} `);
    if (!set.identical) legend.append(...infinite);
    return legend;
}
