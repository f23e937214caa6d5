// Fingers on drawings: a tap shows the value there, and it stays when the finger leaves.
export function keepTaps(view) {
    view.addEventListener(
        'pointerleave',
        (event) => {
            if (event.pointerType !== 'mouse') event.stopPropagation();
        },
        {capture: true},
    );
    view.addEventListener('pointerdown', (event) => {
        const {pointerType, pointerId, clientX, clientY, target} = event;
        if (pointerType !== 'mouse')
            target.dispatchEvent(
                new PointerEvent('pointermove', {
                    pointerType,
                    pointerId,
                    clientX,
                    clientY,
                    bubbles: true,
                }),
            );
    });
}
