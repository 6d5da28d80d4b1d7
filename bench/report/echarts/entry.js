// What the report's charts need of ECharts, and no more.
import { init, use } from "echarts/core";
import { BarChart, LineChart, ScatterChart } from "echarts/charts";
import { GraphicComponent, GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, LineChart, ScatterChart, GraphicComponent, GridComponent, MarkLineComponent, TooltipComponent, SVGRenderer]);

export { init };
