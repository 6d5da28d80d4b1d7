"use strict";
// Draws the pictures of #chart-data with ECharts, one in each .chart. Names and axes are set by hand, so that
// what is drawn fits its panel at any width and no two names lie on each other.
(() => {
  const pictures = JSON.parse(document.getElementById("chart-data").textContent);
  const boxes = [...document.querySelectorAll(".chart")];
  const root = document.documentElement;

  // Shapes as corners in a box of 10 by 10, so that colour alone tells nothing. The first is a circle.
  const shapes = [
    [], [.6, .6, 9.4, .6, 9.4, 9.4, .6, 9.4], [5, .2, 10, 9.4, 0, 9.4], [5, -.4, 10.4, 5, 5, 10.4, -.4, 5], [0, .6, 10, .6, 5, 9.8],
    [3.4, 0, 6.6, 0, 6.6, 3.4, 10, 3.4, 10, 6.6, 6.6, 6.6, 6.6, 10, 3.4, 10, 3.4, 6.6, 0, 6.6, 0, 3.4, 3.4, 3.4], [.6, 0, 10, 5, .6, 10],
    [5, -.3, 6.5, 3.4, 10.4, 3.8, 7.4, 6.4, 8.4, 10.3, 5, 8.2, 1.6, 10.3, 2.6, 6.4, -.4, 3.8, 3.5, 3.4],
    [2, 0, 5, 3, 8, 0, 10, 2, 7, 5, 10, 8, 8, 10, 5, 7, 2, 10, 0, 8, 3, 5, 0, 2],
  ];
  const pairs = (flat) => flat.flatMap((v, i) => i % 2 ? [] : [[v, flat[i + 1]]]);
  const symbolOf = (shape) => shape.length ? `path://M${pairs(shape).join("L")}Z` : "circle";
  let theme;
  const readTheme = () => {
    const css = getComputedStyle(root), get = (name) => css.getPropertyValue("--" + name).trim();
    theme = { font: getComputedStyle(document.body).fontFamily, hues: shapes.map((_, i) => get("c" + i)) };
    for (const name of ["ink", "dim", "paper", "rule", "over", "best"]) theme[name] = get(name);
  };
  // Algorithms beyond the ninth have a colour again, but another shape, and are hollow.
  const look = (n) => n < 0
    ? { color: theme.dim, shape: null }
    : { color: theme.hues[n % 9], shape: shapes[(n + Math.floor(n / 9)) % 9], hollow: Math.floor(n / 9) % 2 === 1 };
  const marker = (l) => ({
    symbol: symbolOf(l.shape), symbolKeepAspect: true,
    itemStyle: l.hollow ? { color: theme.paper, borderColor: l.color, borderWidth: 1.6 } : { color: l.color, borderColor: theme.paper, borderWidth: 1 },
  });

  // Text and marks at a place of the panel, in pixels.
  const pen = document.createElement("canvas").getContext("2d");
  const size = 12;
  const widthOf = (text, px = size) => { pen.font = `${px}px ${theme.font}`; return pen.measureText(text).width; };
  const text = (s, x, y, more = {}) => ({
    type: "text", silent: true, x, y, z: 20,
    style: { text: s, fill: theme.ink, font: `${more.bold ? "600 " : ""}${more.px || size}px ${theme.font}`, verticalAlign: "middle", ...more.style },
  });
  const glyph = (l, x, y) => ({
    ...(l.shape.length ? { type: "polygon", shape: { points: pairs(l.shape).map(([u, v]) => [x + (u - 5) * .9, y + (v - 5) * .9]) } }
      : { type: "circle", shape: { cx: x, cy: y, r: 4.5 } }), silent: true, z: 20,
    style: l.hollow ? { fill: theme.paper, stroke: l.color, lineWidth: 1.5 } : { fill: l.color },
  });
  const line = (x1, y1, x2, y2, style) => ({ type: "line", silent: true, z: 10, shape: { x1, y1, x2, y2 }, style: { stroke: theme.dim, lineWidth: 1, ...style } });
  const cut = (s, room) => {
    if (widthOf(s) <= room) return s;
    while (s.length > 1 && widthOf(s + "…") > room) s = s.slice(0, -1);
    return s + "…";
  };

  const scale = (axis, from, to) => {
    const f = axis.log ? Math.log10 : (v) => v;
    const low = f(axis.min), high = f(axis.max);
    return (v) => from + (f(v) - low) / (high - low) * (to - from);
  };
  const short = (v, ...units) => {
    const [size, name] = units.find(([size]) => Math.abs(v) >= size) || units[units.length - 1];
    return +(v / size).toPrecision(3) + name;
  };
  const ticks = {
    bytes: (v) => short(v, [1e12, " TB"], [1e9, " GB"], [1e6, " MB"], [1e3, " kB"], [1, " B"]),
    us: (v) => short(v, [1e6, "s"], [1e3, "ms"], [1, "us"], [1e-3, "ns"]),
    count: (v) => short(v, [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]),
    share: (v) => +(v * 100).toPrecision(3) + "%",
    times: (v) => +v.toPrecision(3) + "×",
    clock: (v) => { const s = new Date(v / 1000).toISOString(); return v % 864e8 === 0 ? s.slice(5, 10) : s.slice(11, v % 6e7 ? 19 : 16); },
    hour: (v) => String(v).padStart(2, "0"),
  };
  // moments are about four round times between two, in microseconds; of hours of the day, every sixth.
  const moments = ({ unit, min, max }) => {
    const seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
    const step = unit === "hour" ? 6 : 1e6 * (seconds.find((s) => (max - min) / s / 1e6 <= 5) || 315360000), all = [];
    for (let v = Math.ceil(min / step) * step; v < max; v += step) all.push(v);
    return all;
  };
  // stops are round values on an axis, about four.
  const stops = ({ min, max, log }) => {
    const all = [];
    if (log) {
      const decades = Math.log10(max / min), parts = decades < 2 ? [1, 2, 5] : [1];
      for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++) {
        for (const n of parts) if (n * 10 ** e >= min * .999 && n * 10 ** e <= max * 1.001) all.push(n * 10 ** e);
      }
      return all.filter((_, i) => all.length < 8 || i % 2 === 0);
    }
    const rough = (max - min) / 4, unit = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].find((n) => n * unit >= rough) * unit;
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max * (1 + 1e-9); i++) all.push(i * step);
    return all;
  };
  // apartOf leaves out values whose ticks would touch, from the last to the first.
  const apartOf = (values, unit, x) => {
    let left = Infinity;
    return [...values].reverse().filter((v) => {
      const half = widthOf(ticks[unit](v), 11) / 2 + 4;
      if (x(v) + half > left) return false;
      left = x(v) - half;
      return true;
    });
  };
  const hidden = ({ min, max, log }) => ({ type: log ? "log" : "value", min, max, show: false });
  // ruled draws the ticks and titles of both axes, and a line across at those of y.
  const ruled = (d, grid, w, h, x, y, across, up) => {
    const quiet = (s, u, v, align) => text(s, u, v, { px: 11, style: { fill: theme.dim, align } });
    return [
      ...up.flatMap((v) => [
        { ...line(grid.left, y(v), w - grid.right, y(v), { stroke: theme.rule }), z: 0 }, quiet(ticks[d.y.unit](v), grid.left - 7, y(v), "right"),
      ]),
      ...across.map((v) => quiet(ticks[d.x.unit](v), x(v), h - grid.bottom + 12, "center")),
      quiet(d.y.title, 0, 8, "left"), quiet(d.x.title, grid.left + (w - grid.left - grid.right) / 2, h - 7, "center"),
    ];
  };

  // tip is built of nodes: what it says is text, never markup.
  const tip = (title, lines) => {
    const box = document.createElement("div"), head = document.createElement("b");
    box.className = "tip";
    head.textContent = title;
    box.append(head, ...lines.map((s) => { const p = document.createElement("div"); p.textContent = s; return p; }));
    return box;
  };
  const base = (grid) => ({
    animation: false, textStyle: { fontFamily: theme.font }, grid: { ...grid, containLabel: false, outerBoundsMode: "none" },
    tooltip: {
      trigger: "item", confine: true, backgroundColor: theme.paper, borderColor: theme.rule, textStyle: { color: theme.ink },
      formatter: (p) => p.data?.tip ? tip(p.data.tip[0], p.data.tip.slice(1)) : "",
    },
  });

  // overlap is the area that two boxes [x, y, width, height] share.
  const overlap = (a, b) => Math.max(0, Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0])) *
    Math.max(0, Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]));

  // names puts a name beside each point: the nearest place where it covers neither another name nor a point.
  const names = (points, left, w, h) => {
    const marks = points.map((p) => [p.x - 6, p.y - 6, 12, 12]), placed = [], out = [];
    for (const p of [...points].sort((a, b) => a.y - b.y || a.x - b.x)) {
      const width = widthOf(p.name) + 14, height = 15;
      let best, least = Infinity;
      for (const side of [1, -1, 0]) {
        for (let step = 0; step < 24; step++) {
          const dy = Math.ceil(step / 2) * 8 * (step % 2 ? 1 : -1);
          if (side === 0 && Math.abs(dy) < 14) continue;
          const box = [side > 0 ? p.x + 10 : side < 0 ? p.x - 10 - width : p.x - width / 2, p.y + dy - height / 2, width, height];
          let cost = Math.abs(dy) + (side < 0 ? 4 : side === 0 ? 8 : 0);
          cost += 1000 * (Math.max(0, left - box[0]) + Math.max(0, box[0] + width - w) + Math.max(0, 18 - box[1]) + Math.max(0, box[1] + height - h));
          for (const b of placed) cost += 20 * overlap(box, b);
          for (const b of marks) cost += 12 * overlap(box, b);
          if (cost < least) [least, best] = [cost, { box, dy, side }];
        }
      }
      placed.push(best.box);
      const [x, y] = [best.box[0], best.box[1] + height / 2], away = Math.abs(best.dy) > 8;
      const covered = points.some((q) => q !== p && Math.hypot(q.x - p.x, q.y - p.y) < 10);
      if (!away && !covered && best.side) {
        out.push(text(p.name, best.side > 0 ? x : x + width, y, { style: { align: best.side > 0 ? "left" : "right" } }));
        continue;
      }
      if (away) {
        const near = best.side > 0 ? x - 1 : best.side < 0 ? x + width + 1 : p.x;
        out.push(line(p.x, p.y, near, best.side ? y : y + (best.dy < 0 ? 7 : -7), { stroke: p.look.color, opacity: .55 }));
      }
      out.push(glyph(p.look, x + 5, y), text(p.name, x + 13, y));
    }
    return out;
  };

  const draw = {
    scatter(d, panel, w, h) {
      const grid = { left: 50, right: 12, top: 24, bottom: 42 };
      const x = scale(d.x, grid.left, w - grid.right), y = scale(d.y, h - grid.bottom, grid.top);
      const points = panel.series.map((s) => ({ name: cut(s.name, w * .45), look: look(s.look), x: x(s.points[0].x), y: y(s.points[0].y) }));
      const across = stops(d.x);
      return {
        ...base(grid), xAxis: hidden(d.x), yAxis: hidden(d.y),
        series: panel.series.map((s) => ({
          type: "scatter", name: s.name, symbolSize: 12, ...marker(look(s.look)),
          data: s.points.map((p) => ({ value: [p.x, p.y], tip: [s.name, p.text] })),
        })),
        graphic: [
          ...across.map((v) => ({ ...line(x(v), grid.top, x(v), h - grid.bottom, { stroke: theme.rule }), z: 0 })),
          ...ruled(d, grid, w, h, x, y, across, stops(d.y)), ...names(points, grid.left, w, h - grid.bottom),
        ],
      };
    },

    lines(d, panel, w, h) {
      const ended = panel.series.filter((s) => s.points.length).map((s) => ({ s, look: look(s.look), at: s.points[s.points.length - 1] }));
      const room = Math.min(Math.max(...ended.map((e) => widthOf(e.s.name))) + 34, w * .5);
      const grid = { left: 50, right: room, top: 24, bottom: 42 };
      const x = scale(d.x, grid.left, w - grid.right), y = scale(d.y, h - grid.bottom, grid.top);
      // The names stand at the right, in the order of the ends, apart.
      const values = [...new Set(panel.series.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b);
      const apart = 15, graphic = ruled(d, grid, w, h, x, y, apartOf(values, d.x.unit, x), stops(d.y));
      ended.sort((a, b) => y(a.at.y) - y(b.at.y));
      const at = ended.map((e) => y(e.at.y));
      for (let i = 1; i < at.length; i++) at[i] = Math.max(at[i], at[i - 1] + apart);
      for (let i = at.length - 1, floor = h - grid.bottom; i >= 0; i--, floor -= apart) at[i] = Math.min(at[i], floor);
      ended.forEach((e, i) => {
        const left = w - room + 18;
        graphic.push(line(x(e.at.x) + 6, y(e.at.y), left - 2, at[i], { stroke: e.look.color, opacity: .5, ...(e.look.shape ? {} : { lineDash: [3, 3] }) }));
        if (e.look.shape) graphic.push(glyph(e.look, left + 5, at[i]));
        graphic.push(text(cut(e.s.name, room - 34), left + (e.look.shape ? 13 : 2), at[i], e.look.shape ? {} : { style: { fill: theme.dim } }));
      });
      return {
        ...base(grid), xAxis: hidden(d.x), yAxis: hidden(d.y),
        series: panel.series.map((s) => {
          const l = look(s.look);
          return {
            type: "line", name: s.name, symbolSize: l.shape ? 8 : 0, lineStyle: { color: l.color, width: 1.8, type: l.shape ? "solid" : "dashed" },
            ...(l.shape ? marker(l) : { symbol: "none" }), showAllSymbol: true,
            data: s.points.map((p) => ({ value: [p.x, p.y], tip: [s.name, p.text, `at ${ticks[d.x.unit](p.x)} ${d.x.title}`] })),
          };
        }),
        graphic,
      };
    },

    steps(d, panel, w, h) {
      const [s] = panel.series, peak = Math.max(...s.points.map((p) => p.y)), over = peak > d.limit;
      const color = over ? theme.over : theme.best;
      const grid = { left: 34, right: 12, top: 22, bottom: 36 };
      const y = scale(d.y, h - grid.bottom, grid.top), x = scale(d.x, grid.left, w - grid.right);
      const told = over ? `▲ ${peak} at most, ${ticks.times(peak / d.limit)} the limit` : `✓ ${peak} at most`;
      const at = x(s.points.find((p) => p.y === peak).x), fits = at + widthOf(told) * 1.1 < w;
      return {
        ...base(grid), xAxis: hidden(d.x), yAxis: hidden(d.y),
        series: [{
          type: "line", step: "end", symbolSize: 5, symbol: "circle", showSymbol: false, itemStyle: { color }, lineStyle: { color, width: 2 }, areaStyle: { color, opacity: .14 },
          data: s.points.map((p) => ({ value: [p.x, p.y], tip: [panel.title, p.text] })),
          markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: theme.ink, type: "dashed", width: 1 }, data: [{ yAxis: d.limit }] },
        }],
        graphic: [
          ...ruled({ ...d, y: { ...d.y, title: "" } }, grid, w, h, x, y, apartOf(stops(d.x), d.x.unit, x), [0, ...new Set([d.limit, peak])]),
          text(told, fits ? at : w, Math.max(y(Math.max(peak, over ? 0 : d.limit)) - 9, 8), { bold: true, style: { fill: color, align: fits ? "left" : "right" } }),
          text("limit", grid.left + 3, y(d.limit) - 7, { px: 11, style: { fill: theme.dim } }),
        ],
      };
    },

    columns(d, panel, w, h) {
      const [s] = panel.series, l = look(s.look), grid = { left: 44, right: 12, top: 24, bottom: 40 };
      const x = scale(d.x, grid.left, w - grid.right), y = scale(d.y, h - grid.bottom, grid.top);
      return {
        ...base(grid), xAxis: { type: "category", show: false, data: s.points.map((_, i) => i) }, yAxis: hidden(d.y),
        series: [{
          type: "bar", name: s.name, barCategoryGap: "15%", itemStyle: { color: l.color },
          data: s.points.map((p) => ({ value: p.y, tip: [s.name, p.text] })),
        }],
        graphic: [...ruled(d, grid, w, h, x, y, apartOf(moments(d.x), d.x.unit, x), stops(d.y).filter((v) => v % 1 === 0)), line(grid.left, y(0), w - grid.right, y(0))],
      };
    },

    // rows have a name at the left and the number at the right.
    bars(d, panel, w, h) { return rows(d, panel, w, h, {}); },
    stack(d, panel, w, h) { return rows(d, panel, w, h, { stack: true }); },

    ranges(d, panel, w, h) {
      const list = panel.series, left = nameRoom(list, w), grid = { left: left + 6, right: 58, top: 18, bottom: 26 };
      const pitch = (h - grid.top - grid.bottom) / list.length, x = scale(d.x, grid.left, w - grid.right);
      const graphic = [text(d.marks[1], w, 9, { px: 11, style: { align: "right", fill: theme.dim } })];
      for (const v of apartOf(stops(d.x), "us", x)) {
        graphic.push({ ...line(x(v), grid.top, x(v), h - grid.bottom, { stroke: theme.rule }), z: 0 });
        graphic.push(text(ticks.us(v), x(v), h - grid.bottom + 12, { px: 11, style: { fill: theme.dim, align: "center" } }));
      }
      list.forEach((s, i) => {
        const y = grid.top + (i + .5) * pitch, l = look(s.look);
        graphic.push(...named(s, left, y));
        if (!s.points.length) { graphic.push(text(cut(s.na, w - grid.left), grid.left + 2, y, { style: { fill: theme.dim } })); return; }
        const first = x(s.points[0].x), final = x(s.points[s.points.length - 1].x);
        graphic.push({ ...line(first, y, final, y, { stroke: l.color, lineWidth: 2, opacity: .6 }), z: 0 });
        graphic.push(text(s.points[1].text, w, y, { style: { align: "right" } }));
      });
      const symbols = [shapes[0], shapes[3], shapes[2]];
      return {
        ...base(grid), xAxis: hidden(d.x), yAxis: { type: "category", inverse: true, show: false, data: list.map((_, i) => i) },
        series: d.marks.map((mark, k) => ({
          type: "scatter", name: mark, symbol: symbolOf(symbols[k]), symbolKeepAspect: true, symbolSize: 10,
          data: list.flatMap((s, i) => s.points[k] ? [{
            value: [s.points[k].x, i], tip: [s.name, ...d.marks.map((m, n) => `${m} ${s.points[n].text}`)],
            itemStyle: { color: look(s.look).color, borderColor: theme.paper, borderWidth: 1 },
          }] : []),
        })),
        graphic,
      };
    },
  };

  const nameRoom = (list, w) => Math.min(Math.max(...list.map((s) => widthOf(s.name))) + 16, w * .58);
  const named = (s, room, y) => [glyph(look(s.look), 5, y), text(cut(s.name, room - 14), 14, y)];

  // rows draws bars from the left; with stack the points lie end to end, else the second is a tick.
  const rows = (d, panel, w, h, { stack }) => {
    const list = panel.series, left = nameRoom(list, w);
    const right = Math.max(...list.map((s) => s.points.length ? widthOf(s.points[0].text) : 0)) + 8;
    const grid = { left: left + 6, right, top: 6, bottom: 6 }, pitch = (h - 12) / list.length;
    const total = (s) => stack ? s.points.reduce((sum, p) => sum + p.x, 0) : Math.max(0, ...s.points.map((p) => p.x));
    const max = d.x.max || Math.max(...list.map(total)) || 1, x = scale({ min: 0, max }, grid.left, w - grid.right);
    const graphic = [];
    list.forEach((s, i) => {
      const y = grid.top + (i + .5) * pitch, l = look(s.look);
      graphic.push(...named(s, left, y));
      if (!s.points.length) { graphic.push(text(cut(s.na, w - grid.left), grid.left + 2, y, { style: { fill: theme.dim } })); return; }
      graphic.push(text(s.points[0].text, x(total(s)) + 6, y));
      if (!stack && s.points[1]) graphic.push(line(x(s.points[1].x), y - 9, x(s.points[1].x), y + 9, { stroke: theme.ink, lineWidth: 2.5 }));
    });
    const bars = (k) => ({
      type: "bar", stack: stack ? "all" : undefined, barWidth: 13, name: d.marks?.[k],
      data: list.map((s, i) => {
        const l = look(s.look), p = s.points[k];
        if (!p) return { value: [0, i] };
        return {
          value: [p.x, i], itemStyle: k ? { color: theme.paper, borderColor: l.color, borderWidth: 1.5 } : { color: l.color, borderColor: l.color, borderWidth: stack ? 1.5 : 0 },
          tip: [s.name, ...s.points.map((q, n) => `${d.marks?.[n] || ""} ${stack ? ticks[d.x.unit](q.x) : q.text}`.trim())],
        };
      }),
    });
    return {
      ...base(grid), xAxis: { type: "value", show: false, min: 0, max }, yAxis: { type: "category", inverse: true, show: false, data: list.map((_, i) => i) },
      series: stack ? [bars(0), bars(1)] : [bars(0)], graphic,
    };
  };

  const drawn = new Map();
  const paint = (box) => {
    const picture = pictures[box.dataset.picture], panel = picture.panels[box.dataset.panel];
    const w = box.clientWidth, h = box.clientHeight;
    if (!w) return;
    if (!drawn.has(box)) drawn.set(box, echarts.init(box, null, { renderer: "svg" }));
    const chart = drawn.get(box);
    chart.resize({ width: w, height: h });
    chart.setOption(draw[picture.kind]({ ...picture, x: panel.x || picture.x, y: panel.y || picture.y }, panel, w, h), { notMerge: true });
    box.dataset.width = w;
  };
  const all = () => { readTheme(); boxes.forEach(paint); };

  all();
  new ResizeObserver(() => boxes.forEach((box) => { if (+box.dataset.width !== box.clientWidth) paint(box); })).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  // Paper is light and narrow.
  addEventListener("beforeprint", () => { root.classList.add("printing"); all(); });
  addEventListener("afterprint", () => { root.classList.remove("printing"); all(); });
  root.dataset.charts = "drawn";
})();
