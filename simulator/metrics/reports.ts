/** Points of tasks outside the world, such as hosts of the configuration on a development stack, by metric; ms since the epoch, value. */
export type ReportedPoints = Map<string, Map<string, readonly (readonly [number, number])[]>>;
