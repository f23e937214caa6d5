// The picture on the screen. The next one is made out of sight and takes its place when it is
// complete, so that nothing blinks while a slider moves. Only another view comes at once, with
// what it says while it loads.
import {h} from './dom.js';
import {scriptRun} from './scripts.js';

// `place` is the element that holds the picture, `readout` the one that has what it says.
// draw(view, contextFor, appear) calls contextFor(signal, until, hover) for what render gets:
// `until(promise)` says that the picture is not complete before, `hover(text)` is what it says,
// seen as long as the picture is. `appear` is called when it is put on the screen. Resolves to
// whether it has become complete.
export function createStage(place, readout) {
    let shown = null,
        coming = null,
        turns = 0;

    function end(picture) {
        picture?.dispose?.();
        picture?.controller.abort();
    }
    function swap(picture, appear) {
        if (shown !== picture) end(shown);
        shown = picture;
        const focused = place.contains(document.activeElement) ? document.activeElement.id : '';
        place.className = `view-${picture.name}`;
        place.replaceChildren(picture.container);
        place.dataset.drawn = picture.name;
        readout.textContent = picture.said;
        if (focused && focused !== place.id)
            place.querySelector(`[id="${focused}"]`)?.focus({preventScroll: true});
        appear();
    }

    return {
        async draw(view, contextFor, appear) {
            const turn = ++turns;
            if (view.charts) await scriptRun('plots-script');
            if (turn !== turns) return false;
            if (coming !== shown) end(coming);
            const waits = [];
            const picture = (coming = {
                name: view.name,
                container: h('div', {class: 'picture'}),
                controller: new AbortController(),
                dispose: null,
                said: '',
            });
            const {
                container,
                controller: {signal},
            } = picture;
            picture.dispose = view.render(
                container,
                contextFor(
                    signal,
                    (promise) => waits.push(promise),
                    (text) => {
                        picture.said = text;
                        if (shown === picture) readout.textContent = text;
                    },
                ),
            );
            const atOnce = waits.length === 0 || shown?.name !== view.name;
            if (atOnce) swap(picture, appear);
            if (waits.length > 0) await Promise.allSettled(waits);
            if (coming !== picture || signal.aborted) return false;
            if (!atOnce) swap(picture, appear);
            return true;
        },
        // Give up a picture that is not complete, and keep the old one; whether there was one.
        cancel() {
            if (coming === shown || !coming) return false;
            end(coming);
            coming = shown;
            return true;
        },
    };
}
