const id=620,ids=[620],modules={620:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.r(__webpack_exports__),__webpack_require__.d(__webpack_exports__,{renderReportPage:()=>renderReportPage});var node_crypto__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(7598),_reporters_findings_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(9136),_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(9034),_text_exit_codes_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(5222),_text_json_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(6691),_text_messages_js__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(7657),_text_sanitize_js__WEBPACK_IMPORTED_MODULE_6__=__webpack_require__(9654);const MAX_TEXT=2e4;function renderReportPage({envelope,transcript,secrets}){const show=text=>(0,_text_sanitize_js__WEBPACK_IMPORTED_MODULE_6__.aj)(text,secrets,MAX_TEXT),style=(0,node_crypto__WEBPACK_IMPORTED_MODULE_0__.createHash)("sha256").update(STYLE).digest("base64");return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${{html:style}}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${headline(envelope)} · structured-agent</title>
<style>${{html:STYLE}}</style>
</head>
<body>
${verdictOf(envelope,show)}
${payloadOf(envelope,show)}
${conversationOf(transcript,show)}
<footer>Texts that are too long for this page are whole in result.json and transcript.jsonl.</footer>
</body>
</html>
`.html}function headline({gate,reason,replayed}){return(0,_text_exit_codes_js__WEBPACK_IMPORTED_MODULE_3__.g)(reason,gate?.status!=="none",replayed===!0)}function verdictOf(envelope,show){const{model,num_turns,usage,total_cost_usd:costUsd,subject,evidence,gate,error}=envelope,sentences=[error,...(gate?.issues??[]).map(({message})=>message),(0,_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__.Qc)(evidence?.coverage),(0,_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__.BB)(evidence)],costs=[model,(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_5__.hS)(num_turns,"turn"),(0,_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__.RT)({usage,costUsd}),(0,_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__.p0)(envelope.duration_ms)],origin=[subject?.repository,subject?.pull_request&&`#${subject.pull_request}`,subject?.sha,`reason ${envelope.reason}`,`exit code ${envelope.exit_code}`,`sandbox ${envelope.sandbox}`];return html`<section class="verdict ${envelope.conclusion}">
<h1>${headline(envelope)}</h1>
${sentences.map(sentence=>sentence?html`<p>${show(sentence)}</p>`:"")}
<p class="dim">${show(listed(costs))}<br>${show(listed(origin))}</p>
</section>`}function listed(parts){return parts.filter(Boolean).join(" \xB7 ")}function payloadOf({structured_output:payload,evidence},show){if(payload===void 0)return"";const rows=(0,_reporters_findings_js__WEBPACK_IMPORTED_MODULE_1__.RJ)(payload,evidence).map(finding=>html`<li>${findingRow(finding,show)}</li>`),json=JSON.stringify(payload).length<=MAX_TEXT?JSON.stringify(payload,null,2):"Too long for this page: see result.json.";return html`<section>
<p class="text">${show(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(payload,"summary")??"")}</p>
${rows.length===0?"":html`<h2>${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_5__.hS)(rows.length,"finding")}</h2><ul>${rows}</ul>`}
<details><summary>Payload as JSON</summary>${block(json,show)}</details>
</section>`}function findingRow({severity,place,title,message,isDoubted},show){const where=place===null?"":listed([place.path,place.line===null?null:`line ${place.line}`]);return html`<span class="tag ${severity}">${severity}</span> <code>${show(where)}</code> <b>${show(title??"")}</b>
<p class="text">${show(message)}</p>${isDoubted?html`<p class="dim">not proven</p>`:""}`}function conversationOf(transcript,show){const lines=transcript.split(`
`).map(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.x9).filter(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.Gv),content=line=>_text_json_js__WEBPACK_IMPORTED_MODULE_4__.$I(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.Ag(line,"message"),"content"),results=Map.groupBy(lines.filter(line=>_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(content(line)[0]??{},"type")==="tool_result"),line=>_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(content(line)[0]??{},"tool_use_id"));let turns=0;const parts=lines.flatMap(line=>{const blocks=content(line),texts=blocks.flatMap(block2=>_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(block2,"text")??[]);switch(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(line,"type")){case"user":return said("Sent to the model",texts.join(`
`),show);case"assistant":{turns+=1;const calls=blocks.filter(block2=>_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(block2,"type")==="tool_use");return[html`<h3>Turn ${String(turns)} <span class="dim">${durationOf(line)}</span></h3>`,...said("Model",texts.join(`
`),show),...calls.map(call=>callRow(call,results.get(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(call,"id"))?.shift()??{},show))]}default:return[]}});return html`<section><h2>Conversation</h2>
${parts.length===0?html`<p class="dim">There is no transcript of this run.</p>`:parts}
</section>`}function durationOf(line){return(0,_reporters_sentences_js__WEBPACK_IMPORTED_MODULE_2__.p0)(_text_json_js__WEBPACK_IMPORTED_MODULE_4__._0(line,"duration_ms")??0)}function said(speaker,text,show){return text.trim()===""?[]:[html`<details open><summary>${speaker}</summary>${block(text,show)}</details>`]}function callRow(call,line,show){const result=_text_json_js__WEBPACK_IMPORTED_MODULE_4__.$I(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.Ag(line,"message"),"content")[0]??{},isError=_text_json_js__WEBPACK_IMPORTED_MODULE_4__.fG(result,"is_error"),decision=isError?"error":_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(line,"decision")??"no result",input=_text_json_js__WEBPACK_IMPORTED_MODULE_4__.Ag(call,"input"),target=_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(input,"command")??_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(input,"path")??"";return html`<details><summary><b>${show(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(call,"name")??"")}</b> <code>${show(target.split(`
`,1)[0]??"")}</code>
<span class="tag ${isError?"error":"note"}">${show(decision)}</span> <span class="dim">${durationOf(line)}</span></summary>
${block(argumentsOf(call,input),show)}${block(_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(result,"content")??"",show)}</details>`}function argumentsOf(call,input){const raw=_text_json_js__WEBPACK_IMPORTED_MODULE_4__.yR(call,"raw_input");return raw!==null?raw:Object.entries(input).map(([name,value])=>`${name}: ${typeof value=="string"?value:JSON.stringify(value)}`).join(`
`)}function block(text,show){return html`<pre>
${show(text)}</pre>`}function html(parts,...holes){const filled=holes.map(hole=>[hole].flat().map(fill).join(""));return{html:parts.map((part,at)=>part+(filled[at]??"")).join("")}}function fill(hole){return typeof hole!="string"?hole.html:hole.replace(/[&<>"']/g,character=>`&#${character.charCodeAt(0)};`)}const STYLE=`
:root {
  color-scheme: light dark;
  --dim: light-dark(#59636e, #9198a1);
  --block: light-dark(#f4f6f8, #161c24);
  --good: light-dark(#1a7f37, #3fb950);
  --bad: light-dark(#cf222e, #f85149);
  --warn: light-dark(#9a6700, #d29922);
  color: light-dark(#1f2328, #d7dde4);
  background: light-dark(#fff, #0d1117);
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1, h2, h3, p { margin: 0.5rem 0; }
h1 { font-size: 1.5rem; }
h1::first-letter { text-transform: uppercase; }
h2 { font-size: 1.2rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-top: 1.5rem; }
code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
code, b, span { unicode-bidi: isolate; }
pre, .text { white-space: pre-wrap; }
pre { margin: 0.5rem 0; padding: 0.75rem; border-radius: 6px; background: var(--block); }
ul { padding: 0; list-style: none; }
li, .verdict { margin-bottom: 1.25rem; }
summary { padding: 0.2rem 0; cursor: pointer; }
footer { margin-top: 3rem; }
.dim, footer { color: var(--dim); font-size: 0.875rem; font-weight: normal; }
.verdict { padding: 0.5rem 1rem; border: 1px solid var(--dim); border-left: 6px solid var(--warn); border-radius: 6px; }
.success { border-left-color: var(--good); }
.failure { border-left-color: var(--bad); }
.tag { padding: 0 0.4rem; border: 1px solid; border-radius: 1rem; font-size: 0.75rem; color: var(--dim); }
.tag.error { color: var(--bad); }
.tag.warning { color: var(--warn); }
`}),9034:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{$r:()=>commandEnding,BB:()=>groundingSentence,Cx:()=>policyChangeSentence,E9:()=>dollars,Qc:()=>coverageSentence,RT:()=>spent,Rc:()=>findWeaknesses,UY:()=>describeBasis,ZH:()=>capitalize,k8:()=>tokensOf,p0:()=>duration});var _text_limits_js__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(6473),_text_messages_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(7657);function capitalize(text){return text.charAt(0).toUpperCase()+text.slice(1)}function duration(ms){if(ms<99.5)return`${Math.round(Math.max(0,ms))} ms`;const seconds=ms/1e3;if(seconds<9.95)return`${seconds.toFixed(1)} s`;const whole=Math.round(seconds);return whole<60?`${whole} s`:`${Math.floor(whole/60)} min ${String(whole%60).padStart(2,"0")} s`}function dollars(usd){return`$${usd.toFixed(usd<1?4:2)}`}function tokensOf(usage){return usage.inputTokens+usage.outputTokens}function spent({usage,costUsd}){const tokens=(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.hS)(tokensOf(usage),"token");return costUsd===null?tokens:`${tokens} \xB7 ${dollars(costUsd)}`}const COMMAND_ENDING=/^\[(exit code \d+|killed by \w+|timed out after \d+ s)(?!\w)[^\]\n]*\]$/;function commandEnding({call,decision,result}){return call.name!=="shell"||decision!=="ok"?null:COMMAND_ENDING.exec(result.content.slice(result.content.lastIndexOf(`
`)+1))?.[1]??null}function policyChangeSentence({what,path,applied}){return`The change modifies ${`\`${path}\` (${what==="workflow"?"this workflow":what})`}, which judges it. ${applied?"The changed version was used":"The version of the base branch was used"}${applied&&what!=="workflow"?"; trusted-files: base uses that of the base branch":""}.`}function findWeaknesses(evidence,hasPayload){const{context,toolCalls,coverage=null}=evidence,known=hasPayload&&coverage?.status!=="unknown"?coverage:null;return[context==="missing"&&"no_diff",context==="truncated"&&"part_of_diff",hasPayload&&toolCalls===0&&!coverage?.files.shown&&"no_tool_call",known!==null&&known.files.shown<known.files.required&&"unseen_files",known?.status==="partial"&&"partly_known"].filter(weakness=>weakness!==!1)}function describeBasis({evidence,payload,subject}){if(evidence==null)return{warnings:[],notes:[]};const provide=subject?.event?"It is not known whether the change modifies its own schema, gate, prompt or workflow. A checkout with fetch-depth: 0, and a github-token with pull-requests: read, provide it.":"A clone that has the commits of both sides provides it.",coverage=coverageSentence(evidence.coverage),sentences={no_diff:`The model was not given the diff of the change, and the log says why. ${provide}`,part_of_diff:"The model was given only a part of the diff of the change. Split the change, or ask in the prompt to read the changed files themselves.",no_tool_call:"The payload was accepted without a single tool call: the model opened no file and ran no command.",unseen_files:coverage??"",partly_known:coverage??""},weaknesses=findWeaknesses(evidence,payload!==null).map(weakness=>sentences[weakness]),warnings=[...new Set(weaknesses)],notes=[coverage,groundingSentence(evidence)].filter(note=>note!==null);return{warnings,notes:notes.filter(note=>!warnings.includes(note))}}const KINDS={lock_file:"lock files",binary:"binary files",generated:"generated files",vendored:"vendored files",outside_working_directory:"files outside working-directory"};function coverageSentence(coverage){if(coverage==null||coverage.status==="unknown"||coverage.files.changed===0)return null;const{changed,required,shown,unseen,notRequired}=coverage.files,kinds=[...new Set(notRequired.map(({why})=>KINDS[why]))].join(", "),rest=changed-required,others=rest===0?"":` (${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.zD)(rest)} need not be: ${kinds})`,partly=coverage.status==="partial"?` This is known in part only. ${coverage.why?.trim()??""}`:"",count=required===0?"nothing":`${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.zD)(shown)} of ${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.hS)(required,"changed file")}`,missing=required-shown,names=unseen.slice(0,_text_limits_js__WEBPACK_IMPORTED_MODULE_0__.CQ.some).map(path=>`\`${path}\``),more=missing>names.length?[`${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.zD)(missing-names.length)} more`]:[],not=missing>0?` Not shown, or in part only: ${[...names,...more].join(", ")}.`:"";return`Shown to the model: ${count}${others}.${partly}${not}`}function groundingSentence(evidence){if(evidence?.grounding==null)return null;const{exact,moved,unproven}=evidence.grounding,total=evidence.findings.length,parts=[{count:exact+moved,what:"proven"},{count:unproven,what:"not proven"},{count:total-exact-moved-unproven,what:"about no file"}].filter(({count})=>count>0);return total===0?null:`${(0,_text_messages_js__WEBPACK_IMPORTED_MODULE_1__.hS)(total,"finding")}: ${parts.map(({count,what})=>`${count} ${what}`).join(", ")}.`}})};export{id,ids,modules};
