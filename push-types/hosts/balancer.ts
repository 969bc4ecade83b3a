/** A load balancer in front of the hosts. */
export interface Balancer {
  /** Takes a host out of service; resolves once no request is under way there, or `timeoutMs` have passed. @throws Error if the balancer does not obey */
  drain(host: string, timeoutMs: number): Promise<void>;
  /** Puts a host back; resolves once it serves. */
  undrain(host: string, timeoutMs: number): Promise<void>;
  /** The hosts of these that are out of service. */
  listOut(hosts: readonly string[]): Promise<ReadonlySet<string>>;
  /** Sets the weights of hosts, from 0 to 256. Absent if the balancer has none. */
  setWeights?(weights: ReadonlyMap<string, number>): Promise<void>;
}
