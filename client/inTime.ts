/** Undefined if it fails, or takes longer than this. */
export async function answerInTime<T>(work: Promise<T>, mostMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, mostMs, undefined)));
  const done = await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
  return done;
}
