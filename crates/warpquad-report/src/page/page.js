"use strict";
(() => {
  const reading = document.getElementById("reading");
  const near = 22; // pixels within which a point is read

  const say = (text, x, y) => {
    reading.textContent = text;
    reading.classList.add("on");
    const size = reading.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, window.innerWidth - size.width - 4));
    const top = y + 18 + size.height > window.innerHeight ? y - size.height - 12 : y + 18;
    reading.style.left = left + "px";
    reading.style.top = Math.max(4, top) + "px";
  };

  const watch = (figure) => {
    const svg = figure.querySelector("svg");
    const script = figure.querySelector("script.hover");
    const frame = figure.querySelector(".scroll");
    if (!svg || !script) return;
    const hover = JSON.parse(script.textContent);
    let marks = [];
    let current = -1;

    const clear = () => {
      marks.forEach((mark) => mark.remove());
      marks = [];
      reading.classList.remove("on");
    };
    // The same thing is marked in every panel.
    const mark = (label) => {
      marks.forEach((old) => old.remove());
      marks = [];
      for (const panel of hover.panels) {
        for (const [x, y, own] of panel.points) {
          if (own !== label) continue;
          const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
          ring.setAttribute("cx", x);
          ring.setAttribute("cy", y);
          ring.setAttribute("r", 22);
          ring.setAttribute("class", "marked");
          svg.append(ring);
          marks.push(ring);
        }
      }
    };
    const scale = () => {
      const box = svg.getBoundingClientRect();
      return [box, svg.viewBox.baseVal.width / box.width];
    };

    const point = (event) => {
      const [box, units] = scale();
      const x = (event.clientX - box.left) * units;
      const y = (event.clientY - box.top) * units;
      let best = null;
      let least = (near * units) ** 2;
      for (const panel of hover.panels) {
        const [left, top, right, bottom] = panel.bounds;
        const slack = 8 * units;
        if (x < left - slack || x > right + slack || y < top - slack || y > bottom + slack) continue;
        for (const one of panel.points) {
          const distance = (one[0] - x) ** 2 + (one[1] - y) ** 2;
          if (distance < least) [least, best] = [distance, one];
        }
      }
      if (!best) return clear();
      current = best[2];
      mark(current);
      say(hover.labels[current], event.clientX, event.clientY);
    };
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", clear);

    const order = [...new Set(hover.panels.flatMap((panel) => panel.points.map((one) => one[2])))].sort((a, b) => a - b);
    frame.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") return clear();
      if (!step || order.length === 0) return;
      event.preventDefault();
      const at = order.indexOf(current);
      current = order[(at + step + order.length) % order.length];
      mark(current);
      const box = marks[0].getBoundingClientRect();
      say(hover.labels[current], box.left, box.top);
    });
    frame.addEventListener("blur", clear);
  };
  document.querySelectorAll("figure[data-figure]").forEach(watch);

  document.querySelectorAll("button[data-copy]").forEach((button) => {
    const text = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        // A page from disk may not write to the clipboard: mark the text instead.
        window.getSelection().selectAllChildren(source);
        button.textContent = "Marked: copy it with Ctrl-C";
      }
      setTimeout(() => (button.textContent = text), 2500);
    });
  });
})();
