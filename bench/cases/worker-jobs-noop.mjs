/** What both sides run in their threads. */
export default () => {}
