// ?embed=1: the picture alone, for slides and notebooks, below a line that leads to the whole
// page.
import {h} from './dom.js';
import {fullAddress, readAddress} from './state.js';

const READOUT = 24; // pixels at the bottom for the value under the pointer

// `title` is a heading that is hidden elsewhere, `view` holds the picture.
export function createEmbed(title, view) {
    const {page} = readAddress(location.search);
    const active = page.embed === '1';
    document.body.classList.toggle('embed', active);
    title.hidden = !active;

    // Shrink a picture that is higher than the frame.
    function fit() {
        view.style.transform = '';
        const room = innerHeight - view.getBoundingClientRect().top - READOUT;
        const scale = Math.min(1, room / view.scrollHeight);
        if (scale < 1) view.style.transform = `scale(${scale})`;
    }
    return {
        active,
        theme: page.theme,
        // The picture of a view has appeared.
        show(text) {
            if (!active) return;
            title.replaceChildren(
                h(
                    'a',
                    {href: fullAddress(location.search, {}), target: '_blank', rel: 'noopener'},
                    text,
                ),
            );
            fit();
        },
    };
}
