// Places to begin: addresses of the page, each with a small picture and what to look for. To
// add one, add a line.
import {pictureAt} from './api.js';
import {h, within} from './dom.js';
import {createSection} from './sections.js';

export const EXAMPLES = [
    {
        title: 'Only the distance counts',
        notice: 'Each diagonal of likeness has one colour.',
        picture:
            '/v1/similarity/sinusoidal?length=64&dim=64&metric=dot&format=png&colormap=viridis',
        address:
            '?scheme=sinusoidal&length=128&dim=64&view=similarity&view.similarity.metric=dot',
    },
    {
        title: 'Base 10 and 10000',
        notice: 'With base 10 every column repeats.',
        picture: '/v1/encodings/sinusoidal?length=64&dim=64&base=10&format=png',
        address:
            '?scheme=sinusoidal&length=128&dim=64&base=10&right.scheme=sinusoidal' +
            '&right.length=128&right.dim=64&right.base=10000&view=heatmap',
    },
    {
        title: 'The decay of RoPE',
        notice: 'The score falls with the distance, in waves.',
        // whose dot products are sums of cos(d * w_i), as RoPE's scores
        picture:
            '/v1/similarity/sinusoidal?length=64&dim=16&metric=dot&format=png&colormap=viridis',
        address:
            '?scheme=rope&length=512&dim=128&view=scores&view.scores.variants=default' +
            '&view.mark=512',
    },
    {
        title: 'The heads of ALiBi',
        notice: 'A steep head sees its neighbours, a mild one all.',
        picture:
            '/v1/encodings/alibi?length=64&heads=8&tensor=bias&slice=3&format=png' +
            '&colormap=viridis',
        address: '?scheme=alibi&length=64&heads=8&mask=causal&view=softmax',
    },
    {
        title: 'RoPE beside YaRN, NTK …',
        notice: 'YaRN stretches the long waves alone.',
        picture:
            '/v1/encodings/rope?length=64&dim=128&rope_type=yarn&factor=4' +
            '&original_max_position_embeddings=128&tensor=cos&format=png',
        address:
            '?scheme=rope&length=512&dim=64&right.scheme=rope&right.length=512&right.dim=64' +
            '&right.rope_type=yarn&right.factor=4&right.original_max_position_embeddings=128' +
            '&view=spectrum&view.mark=128',
    },
    {
        title: 'Float32 far out',
        notice: 'Fast columns are wrong in the third decimal.',
        picture: '/v1/encodings/sinusoidal?length=64&offset=131008&dim=64&format=png',
        address: '?scheme=sinusoidal&length=64&offset=131008&dim=64&view=precision',
    },
];

const schemeOf = (address) => new URLSearchParams(address).get('scheme');

function card({title, notice, address}, go) {
    const picture = h('img', {alt: '', width: 48, height: 48, decoding: 'async'});
    return h(
        'li',
        {},
        h(
            'a',
            {href: address, onclick: go},
            picture,
            h('span', {}, h('strong', {}, title), h('span', {class: 'notice'}, notice)),
        ),
    );
}

// Fills a section with cards that `button` opens and closes; `visit(address)` opens an address
// without reloading the page. They are open where a visit begins with them. `ready(schemes)`
// shows the pictures, hide() closes the cards.
export function createExamples(button, section, {open, visit}) {
    const {set, close} = createSection(button, section, {open, opened: () => draw()});
    const cards = EXAMPLES.map((example) => ({
        example,
        element: card(
            example,
            within(() => {
                close();
                visit(example.address);
            }),
        ),
    }));
    let known = null;
    function draw() {
        if (!known) return;
        for (const {example, element} of cards) {
            element.hidden = !known.has(schemeOf(example.address));
            if (element.hidden) continue;
            pictureAt(example.picture).then((address) =>
                element.querySelector('img').setAttribute('src', address),
            );
        }
    }
    section.append(h('ul', {}, ...cards.map(({element}) => element)));
    return {
        hide: () => set(false),
        ready(schemes) {
            known ??= new Set(schemes.map(({name}) => name));
            if (!section.hidden) draw();
        },
    };
}
