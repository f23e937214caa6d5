// A picture that moves, as an animated GIF: one frame for each place of its slider.
import {GIFEncoder, applyPalette, quantize} from 'gifenc';
import {pixelsOf} from './picture.js';

const FRAMES = 60; // at most
const DELAY = 100; // milliseconds from frame to frame
const COLOURS = 256;

// The slider that turns the dials of a view, or null.
export const sliderOf = (view) => view.querySelector('.rotation-track input:enabled');

const nextFrame = () =>
    new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));

// Move the slider and wait until the vectors there are loaded and drawn.
async function goTo(view, slider, row) {
    slider.value = row;
    slider.dispatchEvent(new Event('input'));
    do await nextFrame();
    while (view.querySelector('.waiting'));
}

// The film from the slider's place on: the bytes of a file. `capture()` gives a picture,
// `told(i, n)` hears of frames. Null if the view has been left meanwhile.
export async function filmOf(view, capture, told) {
    const slider = sliderOf(view),
        start = Number(slider.value);
    const first = start === Number(slider.max) ? 0 : start;
    const count = Math.min(FRAMES, Number(slider.max) - first + 1);
    const encoder = GIFEncoder();
    for (let i = 0; i < count; i++) {
        await goTo(view, slider, first + i);
        if (!slider.isConnected) return null;
        await addFrame(encoder, capture());
        told(i + 1, count);
    }
    encoder.finish();
    await goTo(view, slider, start);
    return encoder.bytes();
}

async function addFrame(encoder, picture) {
    const canvas = await pixelsOf(picture, 1);
    const {data, width, height} = canvas
        .getContext('2d')
        .getImageData(0, 0, canvas.width, canvas.height);
    const palette = quantize(data, COLOURS);
    encoder.writeFrame(applyPalette(data, palette), width, height, {palette, delay: DELAY});
}
