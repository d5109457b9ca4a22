Binput2JPÖÂˆ¿o©à¾ês¾}‡
½KÃ¾˜;¿ÚÜd¾UíO?d{Õ½)Põ>†Z¿µhw>TP?wkÊ=Lb¿xF?¯Œ#?mR
?}Û+¾«÷“½