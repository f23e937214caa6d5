// The first request of a reader: an address that can be changed and sent, and its answer.
import {h} from './dom.js';
import {isSite} from './api.js';

const OTHERS = [
    ['a picture', '/v1/encodings/rope?length=32&dim=32&format=png&scale=8'],
    ['the biases of ALiBi', '/v1/encodings/alibi?length=4&heads=2'],
    ['a model', '/v1/models/llama-3.1-8b'],
    ['what there is', '/v1/schemes/sinusoidal'],
];
const LONGEST = 20000; // characters of an answer that are shown

async function bodyOf(reply) {
    const type = reply.headers.get('Content-Type') ?? '';
    if (type.startsWith('image/')) {
        const picture = h('img', {alt: 'The table as a picture', class: 'pixels'});
        picture.src = URL.createObjectURL(await reply.blob());
        return picture;
    }
    if (!/json|text/.test(type)) return h('p', {}, `${(await reply.blob()).size} bytes`);
    const text = await reply.text();
    const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n…` : text;
    return h('pre', {tabindex: 0}, cut);
}

export function createFirst(form, answer, others) {
    const target = form.querySelector('input');
    let latest = 0;
    async function send() {
        const mine = ++latest;
        const asked = target.value.trim();
        const path = asked.replaceAll("'", '%27');
        const command = isSite() ? `posenc '${path}'` : `curl -s '${location.origin}${path}'`;
        try {
            const reply = await fetch(asked.startsWith('/') ? asked : `/${asked}`);
            const body = await bodyOf(reply);
            if (mine !== latest) return;
            const type = reply.headers.get('Content-Type');
            answer.replaceChildren(
                h('p', {}, h('strong', {}, String(reply.status)), ` ${type}`),
                body,
                h('p', {}, 'In a shell: ', h('code', {}, command)),
            );
        } catch {
            answer.replaceChildren(h('p', {class: 'failed'}, 'The service does not answer.'));
        }
    }
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        send();
    });
    others.append(
        ...OTHERS.flatMap(([title, address]) => [
            h(
                'button',
                {
                    type: 'button',
                    onclick() {
                        target.value = address;
                        send();
                    },
                },
                title,
            ),
            ' ',
        ]),
    );
}
