// The guided tour: addresses of the page with two or three sentences each, in an order in which
// one leads to the next. Each word of the field is explained where it comes first.
import {h, within} from './dom.js';
import {recall, remember} from './storage.js';

export const TOUR = [
    {
        title: 'Count',
        text:
            'A transformer looks at all words of a text at once, by attention, and does ' +
            'not see their order. So each position gets a code that is added to the ' +
            'numbers of its word, and the simplest code is the position itself: 0, 1, 2, 3 ' +
            'and so on. But the line never stops rising, and beyond the training length, ' +
            'here 32, come numbers that the model has never met.',
        address: '?scheme=integer&length=64&view=waves&view.mark=32',
    },
    {
        title: 'Count in binary',
        text:
            'Each row is the code of one position, written in binary: the last column ' +
            'changes at every step, and each column before it half as often. Nothing grows ' +
            'any more, but the steps are hard: from 31 to 32 all six columns change at ' +
            'once, as if these neighbours were far apart.',
        address: '?scheme=binary&length=64&width=6&view=heatmap',
    },
    {
        title: 'Make it smooth',
        text:
            'Sines and cosines are smooth bits: they stay between -1 and 1, and neighbours ' +
            'get similar codes. Fast columns, on the left, tell neighbours apart but soon ' +
            'repeat; slow ones, on the right, tell what is far apart, and together no two ' +
            'rows are alike. Column 20 is framed, and the buttons below the picture show ' +
            'it as a wave and as a dot in the spectrum.',
        address: '?scheme=sinusoidal&length=128&dim=64&view=heatmap&view.column=20',
    },
    {
        title: 'Only the distance counts',
        text:
            'Each cell is the dot product of the sine codes of two positions, which says ' +
            'how alike they are. Every diagonal has one colour: the product depends on the ' +
            'distance between the two positions and not on where they stand. A model first ' +
            'multiplies the codes, added to its words, by matrices that it has learned, and ' +
            'what comes of that need not depend on the distance alone.',
        address:
            '?scheme=sinusoidal&length=128&dim=64&view=similarity&view.similarity.metric=dot',
    },
    {
        title: 'Turn instead of add: RoPE',
        text:
            'Attention scores how well the query of a word, what it looks for, fits the ' +
            'key of another, what that offers; both are lists of numbers. RoPE adds no ' +
            'code: it takes these numbers in pairs and turns each pair by an angle that ' +
            'grows with the position, fast in the first dial and slowly in the last (press ' +
            'Play). Lengths are kept, and for given words the score depends only on the ' +
            'angle between query and key, and so on the distance alone: in Similarity, ' +
            'above, every diagonal of such scores has one colour.',
        address: '?scheme=rope&length=256&dim=32&view=rotation&view.rotation.position=20',
    },
    {
        title: 'Prefer what is near: biases',
        text:
            'Relative biases leave queries and keys as they are and add to each score a ' +
            'number for the distance, in ALiBi a penalty: slope times distance. A model has ' +
            'several attentions side by side, its heads, each with a slope of its own. Each ' +
            'line is what one head sees of the earlier words: head 0, whose slope is steep, ' +
            'little but its neighbours, and head 7, whose slope is near 0, all nearly alike.',
        address: '?scheme=alibi&length=64&heads=8&mask=causal&view=softmax',
    },
    {
        title: 'Beyond the training length',
        text:
            'A model that was trained on 256 positions has never met the distances to the ' +
            'right of the mark, and there plain RoPE, the line called default, turns slow ' +
            'pairs to angles that are new to it. The other lines turn the pairs less, so ' +
            'that a longer text keeps to known angles: linear slows all pairs, here 4 times, ' +
            'which makes near words hard to tell apart, and yarn only the slow ones as much, ' +
            'which spares them.',
        address:
            '?scheme=rope&length=1024&dim=64&view=scores&view.mark=256' +
            '&view.scores.variants=default,linear,yarn',
    },
    {
        title: 'Do not lose it to rounding',
        text:
            'Sine codes and RoPE take sines of position × frequency, and usual programs ' +
            'round that product to float32 first. Far out, here around position 131071, ' +
            'their values are wrong in the third decimal, as seen below; posenc, the service ' +
            'behind this page, rounds the exact value once, at the end.',
        address: '?scheme=sinusoidal&length=64&offset=131008&dim=64&view=precision',
    },
];

const stepOf = (text) =>
    /^[1-9]\d*$/.test(text ?? '') && Number(text) <= TOUR.length ? Number(text) : 0;

// The address of a step, "?tour=3&scheme=…".
const addressOfStep = (step) => `?tour=${step}&${TOUR[step - 1].address.slice(1)}`;

// The whole address if one names nothing but a step, "?tour=3"; else ''.
export function wholeAddress(search) {
    const given = new URLSearchParams(search);
    const step = stepOf(given.get('tour'));
    return step > 0 && !given.has('scheme') ? addressOfStep(step) : '';
}

const KEY = 'posenc.toured'; // whether the tour has been offered

// Fills a line that offers the tour to those who come for the first time, and to no link of
// somebody: `first` is whether the visit begins with nothing chosen.
export function offerTour(line, first, begin) {
    line.hidden = !first || recall(KEY) !== null;
    if (line.hidden) return {hide: () => {}};
    remember(KEY, 'yes');
    const hide = () => (line.hidden = true);
    line.append(
        h('span', {}, 'New to this?'),
        h('button', {type: 'button', class: 'tour-next', onclick: begin}, 'Take the tour'),
        h('button', {type: 'button', onclick: hide}, 'No, thanks'),
    );
    return {hide};
}

// Fills a section, which `link` opens; `visit(address)` opens an address without reloading the
// page, `leave()` takes the tour out of the address. show(text) is called with the step in the
// address, as a text.
export function createTour(link, section, {visit, leave}) {
    let step = 0,
        parts = null;
    const go = (to) => visit(addressOfStep(to));
    function begin() {
        go(1);
        parts?.title.focus();
    }
    function close() {
        leave();
        link.focus();
    }
    function build() {
        const count = h('span', {class: 'tour-count'}),
            title = h('h2', {id: 'tour-title', tabindex: -1}),
            text = h('p', {});
        const previous = h('button', {type: 'button', onclick: () => go(step - 1)}, 'Previous');
        const next = h('button', {
            type: 'button',
            class: 'tour-next',
            onclick: () => (step < TOUR.length ? go(step + 1) : close()),
        });
        section.append(
            h(
                'div',
                {class: 'tour-words', 'aria-live': 'polite'},
                h('div', {class: 'tour-head'}, count, title),
                text,
            ),
            h(
                'div',
                {class: 'buttons'},
                previous,
                next,
                h('button', {type: 'button', onclick: close}, 'Close'),
            ),
        );
        return {count, title, text, previous, next};
    }
    link.addEventListener('click', within(begin));
    document.addEventListener('keydown', (event) => {
        const {key, target, defaultPrevented} = event;
        const to = step + ({ArrowRight: 1, ArrowLeft: -1}[key] ?? 0);
        const own = target === document.body || section.contains(target);
        if (step > 0 && own && to !== step && to >= 1 && to <= TOUR.length) {
            event.preventDefault();
            return go(to);
        }
        if (
            key === 'Escape' &&
            !defaultPrevented &&
            step > 0 &&
            !document.body.classList.contains('loading') &&
            !target.closest?.('#sides')
        )
            close();
    });
    return {
        begin,
        show(named) {
            step = stepOf(named);
            section.hidden = step === 0;
            if (step === 0) return;
            parts ??= build();
            const {count, title, text, previous, next} = parts;
            count.textContent = `Step ${step} of ${TOUR.length}`;
            title.textContent = TOUR[step - 1].title;
            text.textContent = TOUR[step - 1].text;
            next.textContent = step < TOUR.length ? 'Next' : 'Finish';
            if (step === 1 && document.activeElement === previous) next.focus();
            previous.disabled = step === 1;
            section.scrollIntoView({block: 'nearest'});
        },
    };
}
